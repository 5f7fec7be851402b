import { normalized } from '../../text/normalized.ts'
import { charactersOf, isUnspaced, wordsOf } from '../../text/words.ts'

const MAX_LENGTH = 200
/** Characters shown before the match. */
const LEAD = 60

/**
 * Cuts an excerpt of at most 200 characters from `text`, composed (NFC) and on one line. It surrounds the first word
 * that begins with one of `spellings` (folded), or starts at the beginning when there is none. Cut ends are marked with
 * `…`.
 */
export function excerpt(original: string, spellings: readonly string[]): string {
  const text = normalized(original, 'NFC')
  const match = firstMatch(text, spellings)
  const start = match <= LEAD ? 0 : match - LEAD
  const line = (start > 0 ? '…' : '') + text.slice(start, start + 2 * MAX_LENGTH).replace(/\s+/g, ' ')
  const trimmed = line.trim().slice(0, MAX_LENGTH + 1)
  return whole(trimmed.length > MAX_LENGTH ? `${trimmed.slice(0, MAX_LENGTH - 1)}…` : trimmed)
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
