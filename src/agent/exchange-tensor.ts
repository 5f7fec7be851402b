import { type Classification, classify, formatClassification } from '../gaze/classification.ts'
import { endOf, type Gaze } from '../gaze/scanpath.ts'
import { greatest } from '../gaze/statistics.ts'
import { wordsOf } from '../text/words.ts'
import { type Channel, channelOf } from './lexicon.ts'

/** Half-life of gaze in milliseconds, as for the freshness of an attestation. */
const HALF_LIFE_MS = 15 * 60_000
/** Longest part of each text that counts, in characters. */
const MAX_CHARACTERS = 20_000
/** A file path or address, which names a place. */
const PLACE = /\bhttps?:\/\/\S|[\w.-]{1,64}\/[\w.-]{1,64}|\b[\w-]{1,64}\.(?:[a-z]{1,4}|json|html|yaml|toml)\b/g
const EXCLAMATION = /!|\p{Extended_Pictographic}/gu

const CHANNELS = ['cog', 'emo', 'env'] as const

/**
 * Classifies an exchange together with the user's latest gaze, in one line. Deterministic. The two parts are weighted:
 *
 *   text share = h_channel / (h_COG + h_EMO + h_ENV)
 *   share = (t · text share + g · gaze share) / (t + g)
 *
 * - h counts the signals of a channel in the message and its answer: words about thinking (COG), feeling (EMO) or
 *   surroundings (ENV). A question mark counts for COG, an exclamation mark or a pictograph for EMO, a path or an
 *   address for ENV.
 * - t is 1, or 0 without any signal.
 * - The gaze share is `classify` of the records.
 * - g = 2^(−age / 15 min); age is the time since the end of the newest record. 0 without records.
 *
 * When t and g are 0, the shares are equal.
 *
 * @param texts the message and its answer; 20,000 characters of each count
 * @example exchangeTensor(['Why does this test fail?', 'Look at line 4 of a.ts.'], [], new Date()) // 'COG:0.50/EMO:0.00/ENV:0.50'
 */
export function exchangeTensor(texts: readonly string[], gaze: readonly Gaze[], now: Date): string {
  const counts = countSignals(texts)
  const signals = counts.cog + counts.emo + counts.env
  const t = signals > 0 ? 1 : 0
  const g = gazeWeight(gaze, now)
  const seen = classify(gaze)
  const share = (channel: Channel) => {
    if (t + g === 0) return 1 / 3
    return ((t * counts[channel]) / Math.max(1, signals) + g * seen[channel]) / (t + g)
  }
  const shares = { cog: share('cog'), emo: share('emo'), env: share('env') }
  return formatClassification({ ...shares, dominant: dominantOf(shares) })
}

function countSignals(texts: readonly string[]): Record<Channel, number> {
  const counts: Record<Channel, number> = { cog: 0, emo: 0, env: 0 }
  for (const whole of texts) {
    const text = whole.slice(0, MAX_CHARACTERS)
    for (const word of wordsOf(text)) {
      const channel = channelOf(word.text)
      if (channel !== null) counts[channel]++
    }
    counts.cog += text.split('?').length - 1
    counts.emo += [...text.matchAll(EXCLAMATION)].length
    counts.env += [...text.matchAll(PLACE)].length
  }
  return counts
}

function gazeWeight(gaze: readonly Gaze[], now: Date): number {
  if (gaze.length === 0) return 0
  return 2 ** (-Math.max(0, now.getTime() - greatest(gaze.map(endOf))) / HALF_LIFE_MS)
}

/** The channel with the largest share; a tie goes to the first. */
function dominantOf(shares: Record<Channel, number>): Classification['dominant'] {
  const values = CHANNELS.map((channel) => shares[channel])
  const lead = CHANNELS[values.indexOf(Math.max(...values))] ?? 'cog'
  return lead.toUpperCase() as Classification['dominant']
}
