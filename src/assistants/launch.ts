import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { isObject } from '../text/json.ts'
import type { Launch, Machine, Scope } from './assistant.ts'
import { SERVER_NAME } from './format.ts'

/** Starts the published package, which npx downloads if necessary. */
const PUBLISHED: Launch = { command: 'npx', args: ['-y', SERVER_NAME] }

/**
 * Matches a word of a command that runs Gazeway: its name, with or without a version, or the path of the built command.
 */
const OWN_WORD = /(?:^|[\\/])gazeway(?:@[\w.^~-]+)?$|[\\/]dist[\\/]cli\.js$/

/**
 * Command with which an assistant starts Gazeway: the published package, or in a clone the built command. A project's
 * file is shared, so it always names the package.
 *
 * @param command path of the running command
 */
export function launchOf(command: string, scope: Scope, { platform }: Pick<Machine, 'platform'>): Launch {
  if (scope === 'project') return PUBLISHED
  const path = realpathSync(command)
  const isInstalled = path.includes(`${sep}node_modules${sep}`) || !path.endsWith('.js')
  if (!isInstalled) return { command: process.execPath, args: [path] }
  // On Windows npx is a shell script, which not every assistant can start.
  return platform === 'win32' ? { command: 'cmd', args: ['/c', PUBLISHED.command, ...PUBLISHED.args] } : PUBLISHED
}

/** Tells whether an entry starts Gazeway, rather than another server of that name. */
export const isOwn = (entry: unknown): boolean => wordsOf(entry).some((word) => OWN_WORD.test(word))

/** Tells whether an entry runs the same command as another, apart from additional arguments. */
export function isLaunchedAs(entry: unknown, other: unknown): boolean {
  const words = wordsOf(entry)
  return wordsOf(other).every((word, index) => words[index] === word)
}

/** Words of an entry's command, in any assistant's form. */
function wordsOf(entry: unknown): string[] {
  if (!isObject(entry)) return []
  return [entry.command, entry.args].flat().filter((word) => typeof word === 'string')
}
