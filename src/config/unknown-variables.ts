import { closest } from 'fastest-levenshtein'
import { adminKeyVariableOf, keyVariableOf } from '../providers/key-variable.ts'
import { type Environment, isOfContainer, VARIABLES } from './environment.ts'

/** Variables that Gazeway reads. `GAZEWAY_KEY`, the caller's key in the documentation's examples, is for clients. */
const READ = [...Object.keys(VARIABLES), 'GAZEWAY_HOME', adminKeyVariableOf(null)]
const OF_CLIENTS = new Set(['GAZEWAY_KEY'])

/**
 * Reports variables that begin with `GAZEWAY_` and are not read, with the nearest known name: a misspelt one leaves its
 * setting at the default. Values are not shown, since they may be secrets.
 *
 * @param upstreams names in `upstreams`, each of which has a variable for its keys
 * @returns one line; null when there are none
 */
export function unknownVariables(env: Environment, upstreams: readonly string[] = []): string | null {
  const read = [...READ, ...upstreams.flatMap((name) => [keyVariableOf(name), adminKeyVariableOf(name)])]
  const unknown = Object.entries(env).filter(
    ([name, value]) =>
      /^GAZEWAY_\w+$/.test(name) &&
      value?.trim() &&
      !read.includes(name) &&
      !OF_CLIENTS.has(name) &&
      !isOfContainer(name, value),
  )
  if (unknown.length === 0) return null
  const notes = unknown.map(([name]) => `${name} is not read; the nearest variable is ${closest(name, read)}.`)
  return notes.join(' ')
}
