import { clip, keywordsOf } from './extract.ts'
import { MARK } from './mark.ts'

/** Longest sentence and heading in a JSON string, in characters. */
const SENTENCE_LENGTH = 240
const HEADING_LENGTH = 60

/** Supplies the strings of a JSON reply, one after the other. */
export interface JsonTexts {
  /**
   * Takes the next text.
   *
   * @param maxLength longest string that fits; when the mark does not fit, it moves to a later text
   */
  next(kind: 'heading' | 'keyword' | 'text', maxLength?: number): string
  /** Shortens and marks a given text like the next one. */
  give(text: string, kind: 'heading' | 'text', maxLength?: number): string
}

/**
 * Creates a supply that cycles through `sentences`.
 *
 * @param options.marked true when the first text must say that it comes from the sandbox
 */
export function createJsonTexts(sentences: string[], options: { marked: boolean }): JsonTexts {
  const texts = sentences.length > 0 ? sentences : ['No text was given.']
  const keywords = keywordsOf(texts, 12)
  const turn = { heading: 0, keyword: 0, text: 0 }
  let marked = !options.marked

  function next(kind: 'heading' | 'keyword' | 'text', maxLength = Number.POSITIVE_INFINITY): string {
    const at = turn[kind]++
    if (kind === 'keyword') return keywords[at % keywords.length] ?? 'sandbox'

    return give(texts[at % texts.length] ?? '', kind, maxLength)
  }

  function give(text: string, kind: 'heading' | 'text', maxLength = Number.POSITIVE_INFINITY): string {
    const clipped = clip(text, kind === 'heading' ? HEADING_LENGTH : SENTENCE_LENGTH)
    if (marked || maxLength < MARK.length) return clipped
    marked = true
    return `${MARK}${clipped}`
  }

  return { next, give }
}
