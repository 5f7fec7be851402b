import * as z from 'zod'
import { visitsOf } from './place-transitions.ts'
import { type Gaze, scanpaths } from './scanpath.ts'
import { meanOfMeasured } from './statistics.ts'

/** The dominant channel of attention and the share of each channel. The shares sum to 1. */
export const Classification = z.object({
  dominant: z.enum(['COG', 'EMO', 'ENV']),
  cog: z.number().min(0).max(1),
  emo: z.number().min(0).max(1),
  env: z.number().min(0).max(1),
})
export type Classification = z.infer<typeof Classification>

/** Shares have four decimals: one part is a ten-thousandth. */
const PARTS = 10_000

/**
 * Classifies records by the activity of each channel, from 0 to 1. Each activity is a mean weighted by dwell:
 *
 *   COG = (focus + load) / 2
 *   EMO = (|valence| + arousal) / 2     the distance from neutral and calm (Russell 1980, the circumplex of affect)
 *   ENV = (distraction + switching) / 2 switching: the share of steps between records that changed the place
 *
 * A mean omits records that did not measure the channel; of a channel measured in part, the measured part counts.
 *
 * A channel's share is its part of the sum, to four decimals; the shares sum to 1. They are equal without records, and
 * when all three channels are 0. Ties are resolved in the order COG, EMO, ENV.
 */
export function classify(records: readonly Gaze[]): Classification {
  const paths = scanpaths(records)
  const ordered = paths.flat()
  const weights = ordered.map((record) => record.dwell_ms)
  const mean = (of: (record: Gaze) => number | undefined) => meanOfMeasured(ordered.map(of), weights) ?? 0

  const cog = mean(({ cog }) => meanOfMeasured([cog?.focus, cog?.load]) ?? undefined)
  const emo = mean(({ emo }) => meanOfMeasured([emo?.valence && Math.abs(emo.valence), emo?.arousal]) ?? undefined)
  const env = (mean((record) => record.env.distraction ?? 0) + switching(paths)) / 2
  return toShares(cog, emo, env)
}

/**
 * Formats a classification in one line, with two decimals that sum to 1.00.
 *
 * @example formatClassification({ dominant: 'COG', cog: 0.6183, emo: 0.1401, env: 0.2416 }) // 'COG:0.62/EMO:0.14/ENV:0.24'
 */
export function formatClassification({ dominant, cog, emo, env }: Classification): string {
  const parts = distribute([cog, emo, env], CHANNELS.indexOf(dominant), 100)
  return CHANNELS.map((channel, i) => `${channel}:${((parts[i] ?? 0) / 100).toFixed(2)}`).join('/')
}

const CHANNELS = ['COG', 'EMO', 'ENV'] as const

function toShares(cog: number, emo: number, env: number): Classification {
  const sum = cog + emo + env
  const activity = sum > 0 ? [cog / sum, emo / sum, env / sum] : [1 / 3, 1 / 3, 1 / 3]
  const lead = activity.indexOf(Math.max(...activity))
  const [first = 0, second = 0, third = 0] = distribute(activity, lead, PARTS)
  return {
    dominant: CHANNELS[lead] ?? 'COG',
    cog: first / PARTS,
    emo: second / PARTS,
    env: third / PARTS,
  }
}

/**
 * Splits `total` into whole parts by share, with the largest-remainder method (Hamilton's). A larger share never gets
 * fewer parts than a smaller one. Among equal remainders, `lead` comes first.
 */
function distribute(shares: readonly number[], lead: number, total: number): number[] {
  const parts = shares.map((share) => Math.floor(share * total))
  const left = total - parts.reduce((sum, part) => sum + part, 0)
  const remainders = shares.map((share, i) => ({ i, rest: share * total - (parts[i] ?? 0) }))
  remainders.sort((a, b) => b.rest - a.rest || Number(b.i === lead) - Number(a.i === lead))
  const rounded = new Set(remainders.slice(0, left).map(({ i }) => i))
  return parts.map((part, i) => part + Number(rounded.has(i)))
}

function switching(paths: readonly Gaze[][]): number {
  const steps = paths.reduce((sum, path) => sum + path.length - 1, 0)
  if (steps <= 0) return 0
  return paths.reduce((sum, path) => sum + visitsOf(path).length - 1, 0) / steps
}
