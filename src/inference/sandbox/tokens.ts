/** A token: the sandbox mark and its line, or up to four characters of a word with the white space before it. */
const TOKEN = /\s*\[sandbox\](?: This is no model: .*\n)?|\s*\S{1,4}|\s+$/gu

/** A word with the white space before it. Trailing white space is a separate piece. */
const WORD = /\s*\S+|\s+$/gu

/**
 * Estimates the tokens of `text`: one per four characters of a word, the usual rule of thumb for English
 * (https://help.openai.com/en/articles/4936856). Deterministic, and {@link cutToTokens} uses the same measure.
 */
export function countTokens(text: string): number {
  return text.match(TOKEN)?.length ?? 0
}

/** The first `max` tokens of `text`. */
export function cutToTokens(text: string, max: number): string {
  return (text.match(TOKEN) ?? []).slice(0, max).join('')
}

/** Splits `text` into the pieces of a stream, one word each. Joined, they give `text`. */
export function streamPieces(text: string): string[] {
  return text.match(WORD) ?? []
}
