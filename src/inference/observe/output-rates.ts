import { LRUCache } from 'lru-cache'

/** Models whose rates are remembered. */
const REMEMBERED = 1000
/** Tokens per second of a model that has not answered yet. */
const ASSUMED = 150
/** Shortest answer that shows a rate, in milliseconds: a shorter one shows how fast a buffer is sent. */
const SHORTEST_MS = 500

/** Rates at which models generate, reasoning included. */
export interface OutputRates {
  /** Notes a stream that has ended. */
  note(model: string, tokens: number, ms: number): void
  /** Tokens that a model may have generated in a time: by the fastest of its answers. */
  tokensIn(model: string, ms: number): number
}

/** Creates the rates of this process. */
export function createOutputRates(): OutputRates {
  const fastest = new LRUCache<string, number>({ max: REMEMBERED })
  return {
    note(model, tokens, ms) {
      if (ms < SHORTEST_MS) return
      const rate = (tokens * 1000) / ms
      if (rate > (fastest.get(model) ?? 0)) fastest.set(model, rate)
    },
    tokensIn: (model, ms) => Math.ceil((Math.max(0, ms) * (fastest.get(model) ?? ASSUMED)) / 1000),
  }
}
