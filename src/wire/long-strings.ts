import { randomUUID } from 'node:crypto'
import { endOfString } from '../text/json-members.ts'
import type { LargeText } from './large-text.ts'
import { nextSlice, yieldToEventLoop } from './yield-to-event-loop.ts'

/** Length from which a string in JSON is read and written in parts, and length of these. */
const LONG = 256 * 1024
/** Length from which a text is searched for them. */
const SEARCHED = 2 * LONG
/** Stands for a long string, followed by its number. Nobody can guess it. */
const MARK = `long-string-${randomUUID()}-`
const MARKED = new RegExp(`"${MARK}(\\d+)"`)
const LATIN1 = /^[\0-\xff]*$/
/** Longest escape in a JSON string: `\u` and four digits. */
const ESCAPE = 6

/**
 * Text between two positions, with a mark in the place of each long string.
 *
 * @param strings where the long strings are put, read in turns with other work, for `withStrings`
 */
export async function markedText(large: LargeText, from: number, to: number, strings: string[]): Promise<string> {
  let marked = ''
  let copied = from
  for (const found of to - from < SEARCHED ? [] : longStrings(large.letters, from, to)) {
    marked += `${large.textOf(copied, found.from)}${MARK}${strings.length}`
    strings.push(await parseString(large, found.from, found.to))
    copied = found.to
  }
  return marked + large.textOf(copied, to)
}

/** Places of long strings between their quotes. Names of fields are read at once. */
function longStrings(letters: string, from: number, to: number): { from: number; to: number }[] {
  const found = []
  for (let begin = letters.indexOf('"', from); begin >= 0 && begin < to; ) {
    const end = endOfString(letters, begin)
    if (end - begin > LONG && end < to && !isName(letters, end)) found.push({ from: begin + 1, to: end })
    begin = letters.indexOf('"', end + 1)
  }
  return found
}

/** Tells whether the string that ends at a quote is the name of a field. */
function isName(letters: string, quote: number): boolean {
  let at = quote + 1
  while (/\s/.test(letters[at] ?? '')) at++
  return letters[at] === ':'
}

async function parseString(large: LargeText, from: number, to: number): Promise<string> {
  const parts: string[] = []
  for (let begin = from; begin < to; ) {
    await yieldToEventLoop()
    const end = endOfPart(large, begin, to)
    parts.push(JSON.parse(`"${large.textOf(begin, end)}"`))
    begin = end
  }
  return joinStrings(parts)
}

/** Joins strings by their bytes, in turns with other work. V8 joins them at once, in four times the time of the last step here. */
async function joinStrings(parts: readonly string[]): Promise<string> {
  let isLatin1 = true
  for (const part of parts) {
    await yieldToEventLoop()
    isLatin1 &&= LATIN1.test(part)
  }
  const [encoding, width] = isLatin1 ? (['latin1', 1] as const) : (['utf16le', 2] as const)
  const bytes = Buffer.allocUnsafe(width * parts.reduce((all, { length }) => all + length, 0))
  let at = 0
  for (const part of parts) {
    await yieldToEventLoop()
    at += bytes.write(part, at, encoding)
  }
  await nextSlice()
  return bytes.toString(encoding)
}

/** End of a part of a string that splits no escape. */
function endOfPart({ letters, wholeAt }: LargeText, begin: number, to: number): number {
  if (begin + LONG >= to) return to
  const end = wholeAt(begin + LONG)
  // Only the letters of one escape are searched: a text may have no other for 32 MB.
  const inEscape = letters.slice(end - ESCAPE + 1, end).lastIndexOf('\\')
  if (inEscape < 0) return end
  const last = end - ESCAPE + 1 + inEscape
  let first = last
  while (first > begin && letters[first - 1] === '\\') first--
  // Of an even number, each escapes the next one.
  if ((last - first) % 2 === 1) return end
  return Math.min(to, Math.max(end, last + (letters[last + 1] === 'u' ? ESCAPE : 2)))
}

/** Puts long strings in the places of their marks in what was parsed. */
export function withStrings(parsed: unknown, strings: readonly string[]): unknown {
  if (strings.length === 0) return parsed
  const whole: Record<string, unknown> = { parsed }
  const open = [whole]
  for (let holder = open.pop(); holder !== undefined; holder = open.pop())
    for (const name in holder) {
      const member = holder[name]
      if (typeof member === 'object' && member !== null) open.push(member as Record<string, unknown>)
      else if (typeof member === 'string' && member.startsWith(MARK))
        holder[name] = strings[Number(member.slice(MARK.length))]
    }
  return whole.parsed
}

/** Tells whether a value has a long string, at any depth. */
export function hasLongString(value: unknown): boolean {
  const open = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string' && next.length > LONG) return true
    if (typeof next !== 'object' || next === null) continue
    for (const name in next) {
      const member = (next as Record<string, unknown>)[name]
      if (typeof member === 'string' || typeof member === 'object') open.push(member)
    }
  }
  return false
}

/** Serializes a value that has long strings, in parts. Together they are what `JSON.stringify` returns. */
export function* longStringParts(value: unknown): Generator<string> {
  const strings: string[] = []
  const marked = JSON.stringify(value, (_, member) =>
    typeof member === 'string' && member.length > LONG ? `${MARK}${strings.push(member) - 1}` : member,
  )
  for (const [at, part] of marked.split(MARKED).entries()) {
    if (at % 2 === 0) yield part
    else yield* stringParts(strings[Number(part)] ?? '')
  }
}

function* stringParts(text: string): Generator<string> {
  yield '"'
  for (let begin = 0; begin < text.length; ) {
    const isPair = /[\ud800-\udbff]/.test(text[begin + LONG - 1] ?? '')
    const end = begin + LONG + (isPair ? 1 : 0)
    yield JSON.stringify(text.slice(begin, end)).slice(1, -1)
    begin = end
  }
  yield '"'
}
