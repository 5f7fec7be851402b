import { realpathSync } from 'node:fs'
import { GazewayError } from '../errors.ts'
import { isObject } from '../text/json.ts'
import type { Launch, Machine, Scope } from './assistant.ts'
import { SERVER_NAME } from './format.ts'
import { installedCopy, isBorrowed } from './installed.ts'

/**
 * Starts the installed command by its name, for entries that several machines share. Not through npx, which runs the
 * package of that name in the project, and puts the project's commands before `node` even with `--prefix`.
 */
export const BY_NAME: Launch = { command: SERVER_NAME, args: [] }

/**
 * Matches a word of a command that runs Gazeway: its name, with or without a version, or the path of the built command.
 */
const OWN_WORD = /(?:^|[\\/])gazeway(?:@[\w.^~-]+)?$|[\\/]dist[\\/]cli\.js$/

/**
 * Command with which an assistant starts Gazeway: Node and a copy of Gazeway, both as absolute paths, so that no opened
 * project chooses what runs. The copy is the running one, or the installed one when that belongs to a project. A
 * project's file is shared, so it names the command.
 *
 * @param command path of the running command
 * @throws GazewayError `config_invalid` when Gazeway is not installed outside the project
 */
export function launchOf(command: string, scope: Scope, { platform, env, project }: Machine): Launch {
  if (scope === 'project') return BY_NAME
  const running = realpathSync(command)
  const isOwnCopy = running.endsWith('.js') && !isBorrowed(running, realpathSync(project))
  const copy = isOwnCopy ? running : installedCopy(env, platform)
  if (copy !== null) return { command: process.execPath, args: [copy] }
  throw new GazewayError('config_invalid', `${running} cannot be what assistants start: ${INSTALL_ADVICE}`)
}

/** Advice for a copy that is not the user's own. */
export const INSTALL_ADVICE =
  'a project or a cache could replace it. Install Gazeway with `npm install --global`, then run `gazeway setup`.'

/** Tells whether an entry starts Gazeway, rather than another server of that name. */
export const isOwn = (entry: unknown): boolean => wordsOf(entry).some((word) => OWN_WORD.test(word))

/** Words of an entry's command, in any assistant's form. */
export function wordsOf(entry: unknown): string[] {
  if (!isObject(entry)) return []
  return [entry.command, entry.args].flat().filter((word) => typeof word === 'string')
}
