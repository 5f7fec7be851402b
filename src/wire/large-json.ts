import { isAscii, isUtf8, transcode } from 'node:buffer'
import { endOfString, type JsonMember, type JsonOutline, outlineByParts } from '../text/json-members.ts'
import { hasLongString, longStringParts, parseLongStrings } from './long-strings.ts'
import { yieldToEventLoop } from './yield-to-event-loop.ts'

/** Length of a JSON text from which it is read and written in turns with other work. */
export const LARGE_JSON = 1024 * 1024
/** Length of the parts that are read and written at once. */
const PART = 256 * 1024
const CONTINUED = 0b1000_0000
const KIND_OF_BYTE = 0b1100_0000

/**
 * Decodes UTF-8 in turns with other work.
 *
 * @returns null for bytes that are not UTF-8
 */
export async function decodeInTurns(bytes: Buffer): Promise<string | null> {
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (!isUtf8(bytes)) return null
  await yieldToEventLoop()
  // A letter of one byte takes two, one of three or four at most as many.
  const letters = Buffer.allocUnsafe(2 * bytes.length)
  let length = 0
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    to = Math.min(from + PART, bytes.length)
    while (((bytes[to] ?? 0) & KIND_OF_BYTE) === CONTINUED) to--
    length += transcode(bytes.subarray(from, to), 'utf8', 'utf16le').copy(letters, length)
    await yieldToEventLoop()
  }
  // Outside of the heap, where it causes no collection.
  return letters.toString('utf16le', 0, length)
}

/** Outlines a JSON text in turns with other work. @throws SyntaxError as `outlineOf` */
export async function outlineInTurns(text: string): Promise<JsonOutline> {
  const outlining = outlineByParts(text)
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
export async function parseInTurns(text: string, outline?: JsonOutline): Promise<unknown> {
  await yieldToEventLoop()
  const long = longLists(text, outline ?? (await outlineInTurns(text)))
  if (long.length === 0) return parseLongStrings(text)
  let rest = ''
  let copied = 0
  for (const { from, to } of long) {
    rest += `${text.slice(copied, from)}0`
    copied = to
  }
  const value = (await parseLongStrings(rest + text.slice(copied))) as object
  for (const { name, from, to } of long)
    Object.defineProperty(value, name, { value: await listInTurns(text.slice(from + 1, to - 1)) })
  return value
}

/** Fields with a long list. Of fields with the same name only the last counts. */
function longLists(text: string, { members }: JsonOutline): JsonMember[] {
  if (!text.trimStart().startsWith('{')) return []
  const last = new Map(members.map((member) => [member.name, member]))
  const isLong = ({ from, to }: JsonMember) => to - from > PART && text[from] === '[' && text[to - 1] === ']'
  return members.filter((member) => last.get(member.name) === member && isLong(member))
}

async function listInTurns(items: string): Promise<unknown[]> {
  const list: unknown[] = []
  for (const part of partsOf(items)) {
    await yieldToEventLoop()
    const read = (await parseLongStrings(part, ['[', ']'])) as unknown[]
    if (read.length === 0 && part !== items) throw new SyntaxError('An item of a list is missing.')
    for (const item of read) list.push(item)
  }
  return list
}

/** Parts of a list without its brackets, each of whole items. */
function* partsOf(items: string): Generator<string> {
  let begin = 0
  let depth = 0
  for (let at = 0; at < items.length; at++) {
    const letter = items[at]
    if (letter === '"') at = endOfString(items, at)
    else if (letter === '[' || letter === '{') depth++
    else if (letter === ']' || letter === '}') depth--
    else if (letter === ',' && depth === 0 && at - begin >= PART) {
      yield items.slice(begin, at)
      begin = at + 1
    }
  }
  yield items.slice(begin)
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
