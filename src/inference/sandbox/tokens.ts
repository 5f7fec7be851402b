/** What a token is here: the sandbox mark, or up to four characters of a word with the white space before it. */
const TOKEN = /\s*\[sandbox\]|\s*\S{1,4}|\s+$/gu

/** A word with the white space before it; trailing white space is a piece of its own. */
const WORD = /\s*\S+|\s+$/gu

/**
 * An estimate of the tokens in `text`: one for every four characters of a word, the usual rule of thumb for English
 * (https://help.openai.com/en/articles/4936856). It is not the tokenizer of any model, but the same text always counts
 * the same, and {@link cutToTokens} cuts by the same measure.
 */
export function countTokens(text: string): number {
  return text.match(TOKEN)?.length ?? 0
}

/** The first `max` tokens of `text`: all of it when it has no more. */
export function cutToTokens(text: string, max: number): string {
  return (text.match(TOKEN) ?? []).slice(0, max).join('')
}

/** `text` in the pieces that a stream sends, a word each; joined, they are `text` again. */
export function streamPieces(text: string): string[] {
  return text.match(WORD) ?? []
}
