import { join, relative, resolve, sep } from 'node:path'
import type { Config } from '../config/config-schema.ts'
import { homeFolder } from '../text/home-folder.ts'

/** A folder that skills are looked for in. */
export interface SkillRoot {
  path: string
  source: 'project' | 'user'
}

/** Where the folders of skills are found. */
export interface SkillPlaces {
  dataDir: string
  /** The user's home folder, null where there is none; the process's own when absent. */
  home?: string | null
  /** The project where the configuration names none; the folder of the process when absent. */
  cwd?: string
}

/** The roots, in the order in which their skills hide each other: the project's, the user's, and that in the data folder. */
export function skillRoots(config: Config['skills'], { dataDir, home = homeFolder(), cwd }: SkillPlaces): SkillRoot[] {
  const project = resolve(config.project ?? cwd ?? process.cwd())
  const below = (folder: string, names: readonly string[], source: SkillRoot['source']) =>
    names.map((name) => ({ path: join(folder, name), source }))
  return [
    // Started in the home folder, a process has no project.
    ...(home !== null && project === resolve(home) ? [] : below(project, config.project_folders, 'project')),
    ...(home === null ? [] : below(home, config.user_folders, 'user')),
    { path: join(dataDir, 'skills'), source: 'user' },
  ]
}

/** A path for people: below the home folder it begins with `~`, which names nobody. */
export function shownPath(path: string, home = homeFolder()): string {
  const shown = home === null ? path : belowHome(path, home)
  return sep === '/' ? shown : shown.replaceAll(sep, '/')
}

function belowHome(path: string, home: string): string {
  const inside = relative(home, path)
  return inside === '' || inside.startsWith('..') || resolve(home, inside) !== path ? path : `~${sep}${inside}`
}
