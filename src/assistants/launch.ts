import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { isObject } from '../text/json.ts'
import type { Launch, Machine, Scope } from './assistant.ts'
import { SERVER_NAME } from './format.ts'

/** Starts the published package; npx fetches it where it is missing. */
const PUBLISHED: Launch = { command: 'npx', args: ['-y', SERVER_NAME] }

/** A word of a command that runs Gazeway: its name, with a version or not, or the path of the built command. */
const OWN_WORD = /(?:^|[\\/])gazeway(?:@[\w.^~-]+)?$|[\\/]dist[\\/]cli\.js$/

/**
 * How an assistant starts Gazeway: the published package, or from a clone the command that it was built into. A project's
 * file is for everyone who works on it, and names the package.
 *
 * @param command path of the command that runs now
 */
export function launchOf(command: string, scope: Scope, { platform }: Pick<Machine, 'platform'>): Launch {
  if (scope === 'project') return PUBLISHED
  const path = realpathSync(command)
  const isInstalled = path.includes(`${sep}node_modules${sep}`) || !path.endsWith('.js')
  if (!isInstalled) return { command: process.execPath, args: [path] }
  // There npx is a script of the shell, which not every assistant starts by itself.
  return platform === 'win32' ? { command: 'cmd', args: ['/c', PUBLISHED.command, ...PUBLISHED.args] } : PUBLISHED
}

/** Whether an entry starts Gazeway, and not another server that was given its name. */
export const isOwn = (entry: unknown): boolean => wordsOf(entry).some((word) => OWN_WORD.test(word))

/** Whether an entry starts what another does, whatever is added to its arguments. */
export function isLaunchedAs(entry: unknown, other: unknown): boolean {
  const words = wordsOf(entry)
  return wordsOf(other).every((word, index) => words[index] === word)
}

/** The words of an entry's command, in whichever form the assistant has it. */
function wordsOf(entry: unknown): string[] {
  if (!isObject(entry)) return []
  return [entry.command, entry.args].flat().filter((word) => typeof word === 'string')
}
