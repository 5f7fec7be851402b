import { closest } from 'fastest-levenshtein'
import { keyVariableOf } from '../providers/key-variable.ts'
import { type Environment, isOfContainer, VARIABLES } from './environment.ts'

/** What is read here; a caller's key, which the examples of the documentation keep in `GAZEWAY_KEY`, is for clients. */
const READ = [...Object.keys(VARIABLES), 'GAZEWAY_HOME']
const OF_CLIENTS = new Set(['GAZEWAY_KEY'])

/**
 * Says which variables that begin with `GAZEWAY_` are set and read by nobody, and what each may have been meant for: a
 * misspelt one leaves its setting at the default. Their values may be secrets, and are not told.
 *
 * @param upstreams the names of `upstreams`, each of which has a variable for its keys
 * @returns one line; null where there are none
 */
export function unknownVariables(env: Environment, upstreams: readonly string[] = []): string | null {
  const read = [...READ, ...upstreams.map(keyVariableOf)]
  const unknown = Object.entries(env).filter(
    ([name, value]) =>
      /^GAZEWAY_\w+$/.test(name) &&
      value?.trim() &&
      !read.includes(name) &&
      !OF_CLIENTS.has(name) &&
      !isOfContainer(name, value),
  )
  if (unknown.length === 0) return null
  const told = unknown.map(([name]) => `${name} is not read; the nearest variable is ${closest(name, read)}.`)
  return told.join(' ')
}
