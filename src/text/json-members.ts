/** A field of the outermost object of a JSON text, with the positions of its parts in the text. */
export interface JsonMember {
  name: string
  /** True when the text writes the name without escapes. */
  isPlain: boolean
  /** First quote of the name. */
  begin: number
  /** The value, without the white space around it. */
  from: number
  to: number
}

/** Positions in a JSON text, found in one pass. */
export interface JsonOutline {
  /** Letters that the positions count: the text, or the bytes of a large one as latin1. */
  letters: string
  /** Fields of the outermost object, in their order. A name may occur twice. */
  members: readonly JsonMember[]
  /** True when JavaScript may not represent a number, anywhere in the text, as it is written. */
  hasLargeNumber: boolean
  /** Number of objects, arrays and fields, anywhere in the text. */
  parts: number
  /** Most objects and arrays that are within each other. */
  levels: number
  /** Names of all fields, anywhere in the text, as it writes them. Null for more than {@link MOST_NAMES}. */
  names: ReadonlySet<string> | null
}

/** Most different names that an outline lists. */
const MOST_NAMES = 1000
/** Length that is outlined at once, where it is outlined in turns with other work. */
const PART = 512 * 1024

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const ARRAY = 0x5b
const BACKSLASH = 0x5c
const ARRAY_END = 0x5d
const OBJECT = 0x7b
const OBJECT_END = 0x7d
const SPACE = 0x20

/** Signs, point and exponent of a number, beside its digits. */
const IN_NUMBER = new Set([...'+-.eE'].map((letter) => letter.charCodeAt(0)))
/** Shortest text of a number that may have more digits than JavaScript keeps. */
const LONG_NUMBER = 16
/** Shortest text of a number with an exponent of three digits. */
const LONG_EXPONENT = 5
const LARGE_EXPONENT = /[eE][+-]?\d{3}/

/**
 * Outlines the JSON text of an object. Strings are skipped and not read. Positions count letters.
 *
 * @param json JSON; the outline of another text means nothing
 * @throws SyntaxError for a name with an invalid escape
 */
export function outlineOf(json: string): JsonOutline {
  const outlining = outlineByParts(json, (from, to) => json.slice(from, to))
  for (;;) {
    const { done, value } = outlining.next()
    if (done) return value
  }
}

/**
 * The same, part by part: what iterates over it lets others work in between.
 *
 * @param textOf text of the letters between two positions
 */
export function* outlineByParts(
  json: string,
  textOf: (from: number, to: number) => string,
): Generator<undefined, JsonOutline> {
  const members: JsonMember[] = []
  const names = new Set<string>()
  let hasLargeNumber = false
  let parts = 0
  let depth = 0
  let levels = 0
  let member: JsonMember | null = null
  let begin = 0
  let end = 0
  let pause = PART
  for (let at = 0; at < json.length; at++) {
    if (at >= pause) {
      yield
      pause = at + PART
    }
    const code = json.charCodeAt(at)
    if (code === QUOTE) {
      begin = at
      end = endOfString(json, at)
      if (depth === 1 && member === null) member = memberNamed(textOf(at + 1, end), at, end)
      at = end
    } else if (code === OBJECT || code === ARRAY) {
      parts++
      depth++
      if (depth > levels) levels = depth
    } else if (code === COLON) {
      parts++
      if (names.size <= MOST_NAMES) names.add(textOf(begin + 1, end))
      if (depth === 1 && member !== null) member.from = firstInk(json, at + 1)
    } else if (code === OBJECT_END || code === ARRAY_END || code === COMMA) {
      if (depth === 1 && member !== null) {
        member.to = lastInk(json, at) + 1
        members.push(member)
        member = null
      }
      if (code !== COMMA) depth--
    } else if (code === MINUS || isDigit(code)) {
      const after = endOfNumber(json, at)
      hasLargeNumber ||= isLarge(json, at, after)
      at = after - 1
    }
  }
  return { letters: json, members, hasLargeNumber, parts, levels, names: names.size > MOST_NAMES ? null : names }
}

function memberNamed(written: string, begin: number, end: number): JsonMember {
  const isPlain = !written.includes('\\')
  return { name: isPlain ? written : JSON.parse(`"${written}"`), isPlain, begin, from: end, to: end }
}

/** Finds the quote that ends a string. @returns the length of a text without one */
export function endOfString(json: string, begin: number): number {
  let end = json.indexOf('"', begin + 1)
  while (json.charCodeAt(end - 1) === BACKSLASH) {
    let escapes = 1
    while (json.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) break
    end = json.indexOf('"', end + 1)
  }
  return end < 0 ? json.length : end
}

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE

function endOfNumber(json: string, begin: number): number {
  let end = begin + 1
  for (let code = json.charCodeAt(end); isDigit(code) || IN_NUMBER.has(code); code = json.charCodeAt(end)) end++
  return end
}

function isLarge(json: string, begin: number, end: number): boolean {
  const length = end - begin
  return length >= LONG_NUMBER || (length >= LONG_EXPONENT && LARGE_EXPONENT.test(json.slice(begin, end)))
}

/** Position of the first letter that is no white space. */
function firstInk(json: string, begin: number): number {
  let at = begin
  while (json.charCodeAt(at) <= SPACE) at++
  return at
}

/** Position of the last letter before another that is no white space. */
function lastInk(json: string, end: number): number {
  let at = end - 1
  while (json.charCodeAt(at) <= SPACE) at--
  return at
}
