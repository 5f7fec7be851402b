import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

const SHORT = 200

/**
 * A token counter with the cl100k_base encoding, loaded on the first call.
 *
 * cl100k_base rather than o200k_base: it loads in half the time (75 against 137 ms) and half the memory (40 against
 * 77 MB), its counts of code and English are within 1 % of the other's, and elsewhere it counts more, so a budget kept
 * by it is kept by the newer encoding too. Text that spells a special token (`<|endoftext|>`) counts as the text it is.
 * Counts are remembered by content, the least recently used forgotten. A single word costs time by the square of its
 * length (0.2 s for 20,000 letters): cut lines of untrusted text first.
 *
 * @param options.remember how many counts to keep
 */
export function createTokenCounter({ remember = 8192 }: { remember?: number } = {}): (text: string) => Promise<number> {
  const counts = new LRUCache<string, number>({ max: remember })
  let loading: Promise<(text: string) => number> | undefined

  return async function countTokens(text) {
    loading ??= loadEncoding()
    const count = await loading
    const key = text.length <= SHORT ? text : createHash('sha1').update(text).digest('base64')
    const known = counts.get(key)
    if (known !== undefined) return known
    const tokens = count(text)
    counts.set(key, tokens)
    return tokens
  }
}

async function loadEncoding(): Promise<(text: string) => number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/cl100k_base')
  const nothingIsSpecial = { disallowedSpecial: new Set<string>() }
  return (text) => countTokens(text, nothingIsSpecial)
}
