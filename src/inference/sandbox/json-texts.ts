import { clip, keywordsOf } from './extract.ts'
import { MARK } from './mark.ts'

/** Longest sentence and heading that go into a JSON string, in characters. */
const SENTENCE_LENGTH = 240
const HEADING_LENGTH = 60

/** Gives out the strings of a JSON reply, one after the other, from the text it is drawn from. */
export interface JsonTexts {
  /**
   * The next text.
   *
   * @param maxLength characters that fit: the mark is kept for a later text where it does not
   */
  next(kind: 'heading' | 'keyword' | 'text', maxLength?: number): string
  /** A text of the caller's choice, cut and marked as the next one would be. */
  give(text: string, kind: 'heading' | 'text', maxLength?: number): string
}

/**
 * Texts drawn from `sentences` in turn, starting over at the end.
 *
 * @param options.marked whether the first text says that it comes from the sandbox
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
