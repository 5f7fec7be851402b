import { stemOf } from '../../text/stem.ts'
import { isUnspaced, queryWords, wordsOf } from '../../text/words.ts'

/** Longest run that is a word. Longer runs are encoded data, or text of a script without spaces, which is cut. */
const LONGEST_RUN = 64
/** Letters, digits and the underscore of ASCII. */
const IN_WORD = Uint8Array.from({ length: 128 }, (_, code) => (/\w/.test(String.fromCharCode(code)) ? 1 : 0))
const PARTS = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g
/** Hashes and long numbers, which are values rather than words. */
const NO_WORD = /^(?:[0-9a-f]{16,}|[0-9]{5,}|0x[0-9a-fA-F]+)$/
const CAMEL = /(\p{Ll}|\p{N})(\p{Lu})/gu

/** Terms of one run: its parts, and the whole identifier if it has several parts. */
export interface RunTerms {
  parts: readonly string[]
  whole: string | null
}

const NONE: RunTerms = { parts: [], whole: null }

/** Cache of word stems, because stemming is slow. */
const stems = new Map<string, string>()
const STEMS_KEPT = 200_000

function stemmed(word: string): string {
  const known = stems.get(word)
  if (known !== undefined) return known
  const stem = stemOf(word)
  if (stems.size >= STEMS_KEPT) stems.clear()
  stems.set(detached(word), stem)
  return stem
}

/**
 * Calls `onRun` for every run of letters, digits and underscores in `text`. A run of a script without spaces is cut at
 * 64 characters.
 */
export function eachRun(text: string, onRun: (run: string, start: number) => void): void {
  const { length } = text
  let at = 0
  while (at < length) {
    let code = text.charCodeAt(at)
    if (code < 128 && IN_WORD[code] === 0) {
      at++
      continue
    }
    const start = at
    let isPlain = true
    while (at < length && (code >= 128 || IN_WORD[code] === 1)) {
      if (code >= 128) isPlain = false
      at++
      code = text.charCodeAt(at)
      if (!isPlain && at - start >= LONGEST_RUN) break
    }
    if (at - start <= LONGEST_RUN) onRun(text.slice(start, at), start)
  }
}

/**
 * Splits a run into index terms:
 *
 * - identifiers are split at camelCase, digits and underscores; the whole identifier is a term as well
 * - English words are replaced by their stems
 * - scripts without spaces are split into characters and pairs of characters
 *
 * @example termsOfRun('parseHTTPRequests') // { parts: ['pars', 'http', 'request'], whole: 'parsehttprequests' }
 */
export function termsOfRun(run: string): RunTerms {
  if (NO_WORD.test(run)) return NONE
  if (!/^[\0-\x7f]*$/.test(run)) return { parts: wordsBeyondAscii(run), whole: null }
  const split = run.match(PARTS) ?? []
  if (split.length === 1)
    return { parts: run.length > 1 ? [stemmed(run.replaceAll('_', '').toLowerCase())] : [], whole: null }
  const parts = split.filter((part) => part.length > 1).map((part) => stemmed(part.toLowerCase()))
  return { parts, whole: run.replaceAll('_', '').toLowerCase() || null }
}

function wordsBeyondAscii(run: string): string[] {
  const apart = run.normalize('NFC').replace(CAMEL, '$1 $2')
  const words = queryWords(apart, Number.POSITIVE_INFINITY)
  const characters = Array.from(wordsOf(apart), ({ text }) => text).filter(isUnspaced)
  return [...words.map((word) => stemmed(word.replace(' ', ''))), ...characters]
}

/** Copies a string: a slice of a text would keep the whole text in memory. */
export const detached = (run: string): string => Buffer.from(run, 'utf16le').toString('utf16le')
