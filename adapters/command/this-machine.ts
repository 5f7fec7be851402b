import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Machine, Scope } from '../../src/assistants/assistant.ts'
import { GazewayError } from '../../src/errors.ts'
import { homeFolder } from '../../src/text/home-folder.ts'

/**
 * The machine of this process, with the working directory as its project.
 *
 * @param flag flag and value that choose the project, for messages
 * @throws GazewayError `config_invalid` without a home folder, or for a project that is one
 */
export function thisMachine(scope: Scope, flag: string): Machine {
  const home = homeFolder()
  const project = process.cwd()
  const [param = flag] = flag.split(' ')
  if (scope === 'user' && (home === null || !isAbsolute(home)))
    throw new GazewayError('config_invalid', `This user has no home folder. Use ${flag}.`, { param })
  if (scope === 'project' && home !== null && realOf(home) === project) {
    const message = `${param}: this is your home folder, whose files apply to all projects; omit it.`
    throw new GazewayError('config_invalid', message, { param })
  }
  return { platform: process.platform, home: home ?? '', env: process.env, project }
}

/** Resolves links in the path of a home folder, which may not exist. */
const realOf = (path: string): string => (existsSync(path) ? realpathSync(path) : path)
