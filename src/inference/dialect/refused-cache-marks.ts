import { isObject } from '../../text/json.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { Mend } from './mend.ts'

/** Marks that Anthropic allows in one request. */
const MOST_MARKS = 4
/** Fields with parts that may be marked for the provider's cache. */
const MARKED = ['tools', 'system', 'messages'] as const
const MARK = 'cache_control'
/** Fields that hold parts. What clients say, such as the input of a call, stays. */
const HOLDERS: ReadonlySet<string> = new Set([...MARKED, 'content', 'function'])

/** Leaves the last marks only: those before them are read from the same cache. */
const fewMarks: Mend = {
  name: 'few_cache_marks',
  isOfCall: true,
  apis: ['messages', 'chat'],
  isRefused: ({ message }) => /maximum of \d+ blocks with cache_control/i.test(message),
  fields: (body, note) => withoutMarks(body, MOST_MARKS, (path) => note(path, 'dropped')),
}

/** Takes out the marks for the cache of a provider that does not know them, or not where they stand. */
const noMarks: Mend = {
  name: 'no_cache_marks',
  apis: ['messages', 'chat'],
  isRefused: ({ message, field }) => message.includes(MARK) || (field ?? '').includes(MARK),
  fields: (body, note) => withoutMarks(body, 0, (path) => note(path, 'dropped')),
}

/** Mends of marks for the cache. */
export const CACHE_MARKS: readonly Mend[] = [fewMarks, noMarks]

function withoutMarks(body: Fields, kept: number, note: (path: string) => void): Fields {
  let left = MARKED.reduce((sum, name) => sum + marksIn(body[name]), 0) - kept
  function strip(value: unknown, path: string): unknown {
    if (Array.isArray(value)) return value.map((one, index) => strip(one, `${path}.${index}`))
    if (!isObject(value)) return value
    const entries = Object.entries(value).flatMap(([name, one]): [string, unknown][] => {
      if (name !== MARK || one === null) return [[name, HOLDERS.has(name) ? strip(one, `${path}.${name}`) : one]]
      if (left <= 0) return [[name, one]]
      left--
      note(`${path}.${MARK}`)
      return []
    })
    return Object.fromEntries(entries)
  }
  if (left <= 0) return {}
  return Object.fromEntries(
    MARKED.filter((name) => marksIn(body[name]) > 0).map((name) => [name, strip(body[name], name)]),
  )
}

function marksIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + marksIn(one), 0)
  if (!isObject(value)) return 0
  return Object.entries(value).reduce((sum, [name, one]) => {
    if (name === MARK && one !== null) return sum + 1
    return HOLDERS.has(name) ? sum + marksIn(one) : sum
  }, 0)
}
