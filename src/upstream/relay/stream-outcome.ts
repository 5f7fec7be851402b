import { estimateUsage } from '../estimate.ts'
import type { Usage } from '../usage.ts'
import type { Relay } from './relay.ts'
import type { SseTap } from './sse-tap.ts'

/**
 * What a stream comes to in its record: the last usage that was reported, else what is counted from its text and marked
 * `estimated`, none when nothing had arrived; and the text, which is read again only where it is wanted.
 *
 * @param sent the request, to count where nothing was reported
 */
export async function streamOutcome(
  { countTokens, storeContent }: Relay,
  tap: SseTap,
  sent: unknown,
): Promise<{ usage: Usage | null; answer: string | null }> {
  const reported = tap.usage()
  if (reported && !storeContent) return { usage: reported, answer: null }
  const { text, factor } = tap.said()
  const usage = reported ?? (text === '' ? null : await estimateUsage(countTokens, sent, text, factor))
  return { usage, answer: text }
}
