import { endOfString, type JsonMember, type JsonOutline, outlineByParts } from '../text/json-members.ts'
import type { LargeText } from './large-text.ts'
import { hasLongString, longStringParts, markedText, withStrings } from './long-strings.ts'
import { yieldToEventLoop } from './yield-to-event-loop.ts'

/** Length of a JSON text from which it is read and written in turns with other work. */
export const LARGE_JSON = 1024 * 1024
/** Length of the parts that are read and written at once. */
const PART = 256 * 1024

/** Outlines a JSON text in turns with other work. @throws SyntaxError as `outlineOf` */
export async function outlineInTurns({ letters, textOf }: LargeText): Promise<JsonOutline> {
  const outlining = outlineByParts(letters, textOf)
  for (;;) {
    const { done, value } = outlining.next()
    if (done) return value
    await yieldToEventLoop()
  }
}

/**
 * Parses a JSON text in turns with other work: the long lists in its outermost object are read a part at a time, and so are
 * long strings. What else is deeper is read at once.
 *
 * @param outline of the text, where it was made before
 * @returns the same as `JSON.parse`
 * @throws SyntaxError as `JSON.parse`
 */
export async function parseInTurns(large: LargeText, outline?: JsonOutline): Promise<unknown> {
  await yieldToEventLoop()
  const long = longLists(large.letters, outline ?? (await outlineInTurns(large)))
  const strings: string[] = []
  let rest = ''
  let copied = 0
  for (const { from, to } of long) {
    rest += `${await markedText(large, copied, from, strings)}0`
    copied = to
  }
  rest += await markedText(large, copied, large.letters.length, strings)
  const value = withStrings(JSON.parse(rest), strings)
  for (const { name, from, to } of long)
    Object.defineProperty(value, name, { value: await listInTurns(large, from + 1, to - 1) })
  return value
}

/** Fields with a long list. Of fields with the same name only the last counts. */
function longLists(letters: string, { members }: JsonOutline): JsonMember[] {
  if (!/^\s*\{/.test(letters)) return []
  const last = new Map(members.map((member) => [member.name, member]))
  const isLong = ({ from, to }: JsonMember) => to - from > PART && letters[from] === '[' && letters[to - 1] === ']'
  return members.filter((member) => last.get(member.name) === member && isLong(member))
}

/** Reads the items of a list between its brackets. */
async function listInTurns(large: LargeText, from: number, to: number): Promise<unknown[]> {
  const list: unknown[] = []
  for (const [begin, end] of partsOf(large.letters, from, to)) {
    await yieldToEventLoop()
    const strings: string[] = []
    const items = await markedText(large, begin, end, strings)
    const read = withStrings(JSON.parse(`[${items}]`), strings) as unknown[]
    if (read.length === 0 && end - begin < to - from) throw new SyntaxError('An item of a list is missing.')
    for (const item of read) list.push(item)
  }
  return list
}

/** Parts of a list between its brackets, each of whole items. */
function* partsOf(letters: string, from: number, to: number): Generator<[begin: number, end: number]> {
  let begin = from
  let depth = 0
  for (let at = from; at < to; at++) {
    const letter = letters[at]
    if (letter === '"') at = endOfString(letters, at)
    else if (letter === '[' || letter === '{') depth++
    else if (letter === ']' || letter === '}') depth--
    else if (letter === ',' && depth === 0 && at - begin >= PART) {
      yield [begin, at]
      begin = at + 1
    }
  }
  yield [begin, to]
}

/** Joins bytes in turns with other work: memory that is new takes longer to fill than to copy. */
export async function joinInTurns(parts: readonly Buffer[], length: number): Promise<Buffer> {
  const joined = Buffer.allocUnsafe(length)
  let at = 0
  for (const part of parts) {
    for (let from = 0; from < part.length; from += PART) {
      await yieldToEventLoop()
      at += part.copy(joined, at, from, from + PART)
    }
  }
  return joined
}

/** Serializes an object in turns with other work, its lists item by item. @returns the same as `JSON.stringify`, as bytes */
export async function stringifyInTurns(value: object): Promise<Buffer> {
  const written: Buffer[] = []
  let length = 0
  let text = ''
  for (const part of partsOfObject(value)) {
    text += part
    if (text.length < PART) continue
    length += written[written.push(Buffer.from(text)) - 1]?.length ?? 0
    text = ''
    await yieldToEventLoop()
  }
  const last = Buffer.from(text)
  return joinInTurns([...written, last], length + last.length)
}

/** Parts of an object as JSON: its lists item by item, and long strings in parts. */
function* partsOfObject(value: object): Generator<string> {
  let before = '{'
  for (const [name, field] of Object.entries(value)) {
    const isList = Array.isArray(field)
    const whole = isList || hasLongString(field) ? '' : JSON.stringify(field)
    if (whole === undefined) continue
    yield `${before}${JSON.stringify(name)}:${whole}`
    before = ','
    if (!isList && whole === '') yield* longStringParts(field)
    if (!isList) continue
    yield '['
    for (const [index, item] of field.entries()) {
      if (index > 0) yield ','
      yield* partsOfValue(item)
    }
    yield ']'
  }
  yield before === '{' ? '{}' : '}'
}

function* partsOfValue(value: unknown): Generator<string> {
  if (hasLongString(value)) yield* longStringParts(value)
  else yield JSON.stringify(value) ?? 'null'
}
