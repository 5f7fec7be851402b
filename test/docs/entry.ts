import assert from 'node:assert/strict'
import { connect, newPlace, type ServerOptions } from '../e2e/server.ts'

/** A server entry in an assistant's configuration. */
export interface Entry {
  command: string
  args?: string[]
  env?: Record<string, string>
}

/** An entry as the documentation has it, for the built command in place of the installed one. */
export function asBuilt({ command, args = [], env = {} }: Entry): Required<Omit<ServerOptions, 'cli'>> {
  assert.equal(command, 'gazeway')
  return { args, env: expanded(env, {}) }
}

/** An entry's variables as Claude Code and Cursor pass them on: `${NAME}`, `${NAME:-default}` and `${env:NAME}` filled in. */
export function expanded(env: Record<string, string>, exported: Record<string, string>): Record<string, string> {
  const value = (text: string) =>
    text.replace(/\$\{(?:env:)?(\w+)(?::-([^}]*))?\}/g, (_, name, other = '') => exported[name] ?? other)
  return Object.fromEntries(Object.entries(env).map(([name, text]) => [name, value(text)]))
}

/** Starts what an entry says, in a new place, and connects to it as an assistant does. */
export async function start(entry: Entry) {
  return connect(newPlace(), asBuilt(entry))
}
