import { isFileGone, isOutOfFiles } from '../../errors.ts'
import { splitEvents } from '../../wire/whole-sse-events.ts'
import type { Bill } from '../admit/bill.ts'
import { countLong } from '../observe/estimate.ts'
import { textOf } from '../observe/generated-text.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { IncrementalText } from '../observe/stream-prefix.ts'

/** Tokens reserved in advance once an answer outgrows its reservation: at first, and at most. */
const [FIRST_STEP, LARGEST_STEP] = [2048, 16_384]
/** Factor for provider tokenizers that count more than ours. */
const TOKENIZER_FACTOR = 1.25
/** Maximum number of bytes of events, and of text, that wait to be counted. */
const WAITING_BYTES = 64 * 1024

/** Compares an answer with its reservation while it passes. Reads and counts each part of it once. */
export interface AnswerMeter {
  /** Meters the stream of a tap from here on; null for a text that no tap sees. */
  follow(tap: SseTap | null): void
  /**
   * Tells whether the reservation covers the answer so far. Judged by its bytes, as a token has at least one.
   *
   * @param unseen reads further text that no tap has seen
   */
  covers(unseen: () => string): boolean
  /**
   * Counts the text that {@link AnswerMeter.covers} added, and extends the reservation if it is too small.
   *
   * @returns whether it covers the answer now
   */
  extend(): Promise<boolean>
  /** Selects the first of the events that were counted last, up to the amount that the reservation covers. */
  covered(events: readonly Buffer[]): Promise<Buffer[]>
}

/** Creates the meter of one call. */
export function createAnswerMeter(
  bill: Pick<Bill, 'answerTokens' | 'extend'>,
  countTokens: (text: string) => Promise<number>,
): AnswerMeter {
  let incremental: IncrementalText | null = null
  /** Number of tokens counted so far. */
  let counted = 0
  let uncounted: string[] = []
  let uncountedBytes = 0
  let step = FIRST_STEP

  const most = (tokens: number): number => Math.ceil(tokens * TOKENIZER_FACTOR)
  const left = (): number => bill.answerTokens() - most(counted) - uncountedBytes

  function add(text: string): void {
    uncounted.push(text)
    uncountedBytes += Buffer.byteLength(text)
  }

  /** Counts the tokens of a text, or its bytes when the tokenizer is missing, as after an upgrade. */
  async function count(text: string): Promise<number> {
    try {
      return await countLong(countTokens, text)
    } catch (error) {
      if (isFileGone(error) || isOutOfFiles(error)) return Buffer.byteLength(text)
      throw error
    }
  }

  return {
    follow(tap) {
      incremental = tap?.incrementalText() ?? null
    },
    covers(unseen) {
      if (incremental === null) add(unseen())
      else if (incremental.bytes() > Math.min(left(), WAITING_BYTES)) add(incremental.text())
      return uncountedBytes <= WAITING_BYTES && left() >= 0
    },
    async extend() {
      const text = uncounted.join('')
      uncounted = []
      counted += await count(text)
      uncountedBytes = 0
      const needed = -left()
      if (needed > 0 && !(await bill.extend(needed + step))) {
        step = Math.max(1, Math.floor(step / 4))
        if (!(await bill.extend(needed))) return false
      } else if (needed > 0) step = Math.min(2 * step, LARGEST_STEP)
      return true
    },
    async covered(events) {
      const split = splitEvents(Buffer.concat(events))
      let tokens = counted - (await count(textOf(Buffer.concat(events))))
      const covered: Buffer[] = []
      for (const event of split) {
        tokens += await count(textOf(event))
        if (most(tokens) > bill.answerTokens()) break
        covered.push(event)
      }
      return covered
    },
  }
}
