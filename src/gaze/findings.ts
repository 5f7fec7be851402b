import * as z from 'zod'
import { cut } from '../text/cut.ts'
import { plain } from '../text/single-line.ts'
import type { GazeMetrics } from './gaze-metrics.ts'
import { rounded } from './statistics.ts'

/** One statement about the attention, in plain words, with the figures that it rests on. */
export const Finding = z.object({
  kind: z.string().describe('What it is about, as a stable name: concentrated, scattered, focus_falling, …'),
  severity: z.enum(['info', 'notice', 'warning']),
  text: z.string(),
  evidence: z.record(z.string(), z.number()),
})
export type Finding = z.infer<typeof Finding>

/** Fewer records than this say little. */
const FEW_RECORDS = 20
const LONGEST_NAME = 120

/**
 * Finds notable properties of metrics, the most general first. Deterministic. The limits are this project's own
 * conventions, except those of fixation durations (Rayner 2009: 200–350 ms on average, longer the harder the material).
 */
export function findFindings(metrics: GazeMetrics): Finding[] {
  if (metrics.records === 0)
    return [finding('no_data', 'notice', 'There are no gaze records to analyse.', { records: 0 })]
  return RULES.flatMap((rule) => rule(metrics) ?? [])
}

type Rule = (metrics: GazeMetrics) => Finding | null

const RULES: readonly Rule[] = [
  ({ records }) =>
    records >= FEW_RECORDS
      ? null
      : finding('little_data', 'notice', `Only ${count(records, 'record')}; take the other findings as hints.`, {
          records,
        }),

  ({ dwell_by_place: [top] }) =>
    top === undefined || top.share < 0.5
      ? null
      : finding(
          'concentrated',
          'info',
          `${percent(top.share)} of the attention (${seconds(top.dwell_ms)}) was on ${name(top.path)}.`,
          { share: top.share, dwell_ms: top.dwell_ms, visits: top.visits },
        ),

  ({ transitions, dwell_by_place, dwell_elsewhere }) => {
    const places = dwell_by_place.length + dwell_elsewhere.places
    const bound = Math.log2(places - 1)
    if (places < 4 || transitions.count < 10 || transitions.entropy_bits < 0.8 * bound) return null
    const text = `Attention moved between ${places} places with little pattern: ${transitions.entropy_bits} of at most ${bound.toFixed(2)} bits a move.`
    return finding('scattered', 'notice', text, {
      places,
      transitions: transitions.count,
      entropy_bits: transitions.entropy_bits,
    })
  },

  ({ transitions }) => {
    const [there] = transitions.matrix_top
    const back = transitions.matrix_top.find((t) => t.from === there?.to && t.to === there.from)
    if (there === undefined || back === undefined || back.count < 3) return null
    const share = (there.count + back.count) / transitions.count
    if (share < 0.3) return null
    const text = `${percent(share)} of the moves went back and forth between ${name(there.from)} and ${name(there.to)}.`
    return finding('back_and_forth', 'info', text, { there: there.count, back: back.count, share })
  },

  (metrics) => drift(metrics, 'focus', { rising: 'info', falling: 'notice' }),
  (metrics) => drift(metrics, 'load', { rising: 'notice', falling: 'info' }),

  ({ load: { mean } }) =>
    mean === null || mean < 0.7
      ? null
      : finding('load_high', 'warning', `Cognitive load was high: ${percent(mean)} on average.`, { mean }),

  ({ focus: { mean } }) =>
    mean === null || mean > 0.3
      ? null
      : finding('focus_low', 'notice', `Focus was low: ${percent(mean)} on average.`, { mean }),

  ({ valence, arousal }) =>
    valence.mean === null || arousal.mean === null || valence.mean > -0.3 || arousal.mean < 0.6
      ? null
      : finding('strained', 'warning', 'Feelings were unpleasant and tense, which often comes with being stuck.', {
          valence: valence.mean,
          arousal: arousal.mean,
        }),

  ({ fixations: { count: fixations, mean_ms } }) => {
    if (mean_ms === null || fixations < 10) return null
    const evidence = { fixations, mean_ms }
    if (mean_ms > 400 && mean_ms < 1500)
      return finding(
        'long_fixations',
        'info',
        `Long fixations (${Math.round(mean_ms)} ms): demanding material.`,
        evidence,
      )
    if (mean_ms < 180)
      return finding(
        'short_fixations',
        'info',
        `Short fixations (${Math.round(mean_ms)} ms): skimming or searching.`,
        evidence,
      )
    return null
  },
]

/**
 * Reports a change of at least a tenth of the scale from the first record to the last, if the records suffice for a
 * trend.
 */
function drift(
  metrics: GazeMetrics,
  channel: 'focus' | 'load',
  severity: Record<'rising' | 'falling', Finding['severity']>,
): Finding | null {
  const { trend_per_min } = metrics[channel]
  if (trend_per_min === null || metrics.records < FEW_RECORDS) return null
  const minutes = metrics.duration_ms / 60_000
  const change = trend_per_min * minutes
  if (Math.abs(change) < 0.1) return null
  const direction = change > 0 ? 'rising' : 'falling'
  const subject = channel === 'focus' ? 'Focus' : 'Cognitive load'
  const text = `${subject} was ${direction}: by ${Math.abs(change).toFixed(2)} over ${minutes.toFixed(1)} min.`
  return finding(`${channel}_${direction}`, severity[direction], text, { trend_per_min, change, minutes })
}

function finding(kind: string, severity: Finding['severity'], text: string, evidence: Record<string, number>): Finding {
  const figures = Object.entries(evidence).map(([figure, value]) => [figure, rounded(value, 4)])
  return { kind, severity, text, evidence: Object.fromEntries(figures) }
}

/** A place as quoted data: paths come from outside, so they are kept short and on one line. */
function name(place: string): string {
  return plain(JSON.stringify(place.length > LONGEST_NAME ? `…${cut(place, 1 - LONGEST_NAME)}` : place))
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function count(n: number, thing: string): string {
  return n === 1 ? `1 ${thing}` : `${n} ${thing}s`
}
