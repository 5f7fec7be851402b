import { isFileGone, isOutOfFiles } from '../../errors.ts'
import type { Usage } from '../../providers/usage.ts'
import { estimateUsage } from '../estimate.ts'
import type { Passing } from './passing.ts'
import type { Relay } from './relay.ts'
import type { SseTap } from './sse-tap.ts'

/**
 * What a stream comes to in its record: the last usage that was reported, else what is counted from its text and marked
 * `estimated`, none when nothing had arrived; and the text, which is read again only where it is wanted.
 */
export async function streamOutcome(
  { relay, sent }: Pick<Passing, 'relay' | 'sent'>,
  tap: SseTap,
): Promise<{ usage: Usage | null; answer: string | null }> {
  const reported = tap.usage()
  if (reported && !relay.storeContent) return { usage: reported, answer: null }
  const { text, factor } = tap.said()
  const usage = reported ?? (text === '' ? null : await countUsage(relay, sent, text, factor))
  return { usage, answer: text }
}

/**
 * Usage that was not reported, counted as `estimateUsage` does. Null for what is nested so deeply that it can be read but
 * not written again, and where the tokenizer is gone, as after an upgrade: the client has the answer, and the call is
 * recorded, all the same.
 *
 * @param answer its text, or what of it is counted as JSON
 */
export async function countUsage(
  { countTokens }: Pick<Relay, 'countTokens'>,
  sent: unknown,
  answer: unknown,
  factor?: number,
): Promise<Usage | null> {
  try {
    return await estimateUsage(countTokens, sent, typeof answer === 'string' ? answer : JSON.stringify(answer), factor)
  } catch (error) {
    if (error instanceof RangeError || isFileGone(error) || isOutOfFiles(error)) return null
    throw error
  }
}
