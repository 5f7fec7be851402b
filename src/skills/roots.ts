import { homedir } from 'node:os'
import { join, relative, resolve, sep } from 'node:path'
import type { Config } from '../config/schema.ts'

/** A folder that skills are looked for in. */
export interface SkillRoot {
  path: string
  source: 'project' | 'user'
}

/** Where the folders of skills are found. */
export interface SkillPlaces {
  dataDir: string
  /** The user's home folder; the process's own when absent. */
  home?: string
  /** The project where the configuration names none; the folder of the process when absent. */
  cwd?: string
}

/** The roots, in the order in which their skills hide each other: the project's, the user's, and that in the data folder. */
export function skillRoots(config: Config['skills'], { dataDir, home = homedir(), cwd }: SkillPlaces): SkillRoot[] {
  const project = resolve(config.project ?? cwd ?? process.cwd())
  const below = (folder: string, names: readonly string[], source: SkillRoot['source']) =>
    names.map((name) => ({ path: join(folder, name), source }))
  return [
    // Started in the home folder, a process has no project.
    ...(project === resolve(home) ? [] : below(project, config.project_folders, 'project')),
    ...below(home, config.user_folders, 'user'),
    { path: join(dataDir, 'skills'), source: 'user' },
  ]
}

/** A path for people: below the home folder it begins with `~`, which names nobody. */
export function shownPath(path: string, home = homedir()): string {
  const inside = relative(home, path)
  const shown = inside === '' || inside.startsWith('..') || resolve(home, inside) !== path ? path : `~${sep}${inside}`
  return sep === '/' ? shown : shown.replaceAll(sep, '/')
}
