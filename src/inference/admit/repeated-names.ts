import { outlineOf } from '../../text/json-members.ts'
import type { ClientRequest } from '../relay/request-body.ts'

/**
 * Tells whether an object anywhere in a request has a name twice: servers differ in which of the two they read, so that a
 * tool may be free here and paid there. The outermost object is included.
 */
export function repeatsNames({
  text,
  json,
  outline,
  edits = {},
}: Pick<ClientRequest<object>, 'text' | 'json' | 'outline' | 'edits'>): boolean {
  // A form has no text.
  if (text === '') return false
  const { letters, members, parts: all } = outline?.() ?? outlineOf(text)
  // What Gazeway has set is not in the text.
  const isSet = (name: string) => Object.hasOwn(edits, name)
  const ofSet = members
    .filter(({ name }) => isSet(name))
    .reduce((sum, { from, to }) => sum + 1 + outlineOf(letters.slice(from, to)).parts, 0)
  const sent = Object.entries(json).filter(([name]) => !isSet(name))
  return all - ofSet > 1 + sent.length + sent.reduce((sum, [, value]) => sum + partsOf(value), 0)
}

/** Counts the objects, arrays and fields of a value, as an outline counts those of its text. */
function partsOf(value: unknown): number {
  const open = [value]
  let parts = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const members: unknown[] = Array.isArray(next) ? next : Object.values(next)
    parts += Array.isArray(next) ? 1 : 1 + members.length
    for (const member of members) if (typeof member === 'object' && member !== null) open.push(member)
  }
  return parts
}
