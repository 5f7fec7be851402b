import { join, relative, resolve, sep } from 'node:path'
import type { Config } from '../config/config-schema.ts'
import { homeFolder } from '../text/home-folder.ts'

/** A folder to search for skills. */
export interface SkillRoot {
  path: string
  source: 'project' | 'user'
}

/** Base folders of skills. */
export interface SkillPlaces {
  dataDir: string
  /** Home folder of the user, null without one; the process's own by default. */
  home?: string | null
  /** Project folder when the configuration names none; the working directory by default. */
  cwd?: string
}

/** Lists the roots in order of precedence: the project's, the user's, and the data folder's. */
export function skillRoots(config: Config['skills'], { dataDir, home = homeFolder(), cwd }: SkillPlaces): SkillRoot[] {
  const project = resolve(config.project ?? cwd ?? process.cwd())
  const below = (folder: string, names: readonly string[], source: SkillRoot['source']) =>
    names.map((name) => ({ path: join(folder, name), source }))
  return [
    // The home folder is not a project.
    ...(home !== null && project === resolve(home) ? [] : below(project, config.project_folders, 'project')),
    ...(home === null ? [] : below(home, config.user_folders, 'user')),
    { path: join(dataDir, 'skills'), source: 'user' },
  ]
}

/** Path for display, with `~` for the home folder, so that it does not name the user. */
export function shownPath(path: string, home = homeFolder()): string {
  const shown = home === null ? path : belowHome(path, home)
  return sep === '/' ? shown : shown.replaceAll(sep, '/')
}

function belowHome(path: string, home: string): string {
  const inside = relative(home, path)
  return inside === '' || inside.startsWith('..') || resolve(home, inside) !== path ? path : `~${sep}${inside}`
}
