import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { lazily } from '../lazily.ts'

const SHORT = 200
/** Characters of a piece of a text with long words: the tokenizer takes quadratic time in the length of a word. */
const PIECE = /.{1,1000}/gs
const LONG_WORD = /\S{1000}|\s{1000}/

/**
 * Creates a token counter with the cl100k_base encoding, loaded on the first call.
 *
 * Reasons for cl100k_base rather than o200k_base:
 * - It loads faster and takes less memory.
 * - Its counts are nearly equal for English and code, and higher for other text. So budgets also hold for o200k_base.
 *
 * Text that spells a special token (`<|endoftext|>`) counts as ordinary text. Counts are cached by content (LRU). A text
 * with words of 1,000 characters is counted in pieces, slightly too high, and between them other work goes on.
 *
 * @param options.remember size of the cache, in counts
 * @example
 * const countTokens = createTokenCounter()
 * await countTokens('Hello world') // 2
 */
export function createTokenCounter({ remember = 8192 }: { remember?: number } = {}): (text: string) => Promise<number> {
  const counts = new LRUCache<string, number>({ max: remember })

  return async function countTokens(text) {
    const count = await loadEncoding()
    const key = text.length <= SHORT ? text : createHash('sha1').update(text).digest('base64')
    const known = counts.get(key)
    if (known !== undefined) return known
    const tokens = LONG_WORD.test(text) ? await countPieces(count, text) : count(text)
    counts.set(key, tokens)
    return tokens
  }
}

async function countPieces(count: (text: string) => number, text: string): Promise<number> {
  let tokens = 0
  for (const [piece] of text.matchAll(PIECE)) {
    tokens += count(piece)
    await nextTurn()
  }
  return tokens
}

const loadEncoding = lazily(async () => {
  const { countTokens } = await import('./cl100k.ts')
  const nothingIsSpecial = { disallowedSpecial: new Set<string>() }
  return (text: string) => countTokens(text, nothingIsSpecial)
})
