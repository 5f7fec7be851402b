import { normalized } from '../../text/normalize-text.ts'
import { charactersOf, isUnspaced, wordsOf } from '../../text/words.ts'

const DEFAULT_LENGTH = 200
/** Characters shown before the match. */
const LEAD = 60

/**
 * Cuts an excerpt of at most `length` characters from `text`, composed (NFC) and on one line. It surrounds the first word
 * that begins with one of `spellings` (folded), or starts at the beginning when there is none. Cut ends are marked with
 * `…`.
 */
export function excerpt(original: string, spellings: readonly string[], length = DEFAULT_LENGTH): string {
  const text = normalized(original, 'NFC')
  const match = firstMatch(text, spellings)
  const start = match <= LEAD ? 0 : match - LEAD
  const line = (start > 0 ? '…' : '') + text.slice(start, start + 2 * length).replace(/\s+/g, ' ')
  const trimmed = line.trim().slice(0, length + 1)
  return whole(trimmed.length > length ? `${trimmed.slice(0, length - 1)}…` : trimmed)
}

/** Removes the halves of surrogate pairs that a cut leaves. */
const whole = (text: string): string => text.replace(/\p{Cs}/gu, '')

function firstMatch(text: string, spellings: readonly string[]): number {
  // Here each character of a script without spaces is a word.
  const beginnings = spellings.map((spelling) => (isUnspaced(spelling) ? charactersOf(spelling)[0] : spelling) ?? '')
  for (const word of wordsOf(text))
    if (beginnings.some((beginning) => word.text.startsWith(beginning))) return word.start
  return 0
}
