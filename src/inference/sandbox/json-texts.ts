import { clip, keywordsOf } from './extract.ts'
import { SANDBOX_PREFIX } from './text-prefix.ts'

/** Longest strings in a JSON reply, in characters, without the mark. */
const LONGEST = { text: 240, heading: 60 }

/** Sample string per `format`, from the reserved names and ranges of RFC 2606, RFC 5737 and RFC 3849. */
const FORMATS: Record<string, string> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'PT1S',
  email: 'sandbox@sandbox.invalid',
  hostname: 'sandbox.invalid',
  uri: 'https://sandbox.invalid/',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
}

/** Short strings that common patterns match: names, numbers, versions, colours, codes. */
const PATTERN_SAMPLES = 'sandbox Sandbox S 0 12 123 1234 12345 A1 ABC AB-123 1.0.0 v1.0.0 #000000 /sandbox en en-US'

/** Sample string of a `format`. Undefined for an unknown one, which then takes free text. */
export const stringOfFormat = (format = '', variant: number): string | undefined =>
  format === 'uuid' ? `00000000-0000-4000-8000-${variant.toString(16).padStart(12, '0')}` : FORMATS[format]

/**
 * Finds a string that a pattern matches: `text`, a common sample, or the string of a format.
 *
 * @returns undefined when none matches
 * @throws SyntaxError when the pattern is not a regular expression
 */
export function stringOfPattern(pattern: string, text: string): string | undefined {
  const matcher = new RegExp(pattern, 'u')
  return [text, ...PATTERN_SAMPLES.split(' '), ...Object.values(FORMATS)].find((sample) => matcher.test(sample))
}

/** Supplies the strings of a JSON reply, one after the other. */
export interface JsonTexts {
  /** Takes the next keyword. */
  nextKeyword(): string
  /**
   * Takes the next text, or shortens and marks the `given` one.
   *
   * @param maxLength the mark moves to a later text when it is longer than this
   */
  next(kind: 'heading' | 'text', maxLength?: number, given?: string): string
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

  return {
    nextKeyword: () => keywords[turn.keyword++ % keywords.length] ?? 'sandbox',
    next(kind, maxLength = Infinity, given) {
      const text = clip(given ?? texts[turn[kind]++ % texts.length] ?? '', LONGEST[kind])
      if (marked || maxLength < SANDBOX_PREFIX.length) return text
      marked = true
      return `${SANDBOX_PREFIX}${text}`
    },
  }
}
