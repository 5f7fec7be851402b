import type { Dwell } from './dwells.ts'

/** Dwell and its line; null beside the text. */
export type LineDwell = Pick<Dwell, 'at' | 'ms'> & { line: number | null }

/** Window of time for focus, in milliseconds. */
const FOCUS_MS = 10_000
/** Number of moves between lines for load. */
const LOAD_MOVES = 20

/**
 * Computes COG from reading.
 *
 * - focus: share of the last ten seconds that was spent on the text
 * - load: share of the last twenty moves between lines that went back up. Readers go back more often in a text that is
 *   harder for them (Rayner 1998)
 *
 * @param dwells in order of time, including the last one
 * @param since start of the recording, in milliseconds since 1970
 */
export function cogOf(dwells: readonly LineDwell[], since: number): { focus: number; load: number } {
  const last = dwells.at(-1)
  if (last === undefined) return { focus: 0, load: 0 }
  const end = last.at + last.ms
  const from = Math.max(since, end - FOCUS_MS)
  const onText = dwells
    .filter(({ line }) => line !== null)
    .reduce((sum, { at, ms }) => sum + Math.max(0, at + ms - Math.max(at, from)), 0)
  const lines = dwells.flatMap(({ line }) => line ?? [])
  const moves = lines
    .slice(1)
    .map((line, i) => line - (lines[i] ?? line))
    .filter((step) => step !== 0)
    .slice(-LOAD_MOVES)
  const back = moves.filter((step) => step < 0).length
  return {
    focus: end > from ? rounded(Math.min(1, onText / (end - from))) : 0,
    load: moves.length > 0 ? rounded(back / moves.length) : 0,
  }
}

/** Valence and arousal of each expression (Russell 1980, rounded coordinates on his circle). */
const EXPRESSIONS: Record<string, { valence: number; arousal: number }> = {
  angry: { valence: -0.7, arousal: 0.8 },
  disgust: { valence: -0.7, arousal: 0.5 },
  fear: { valence: -0.7, arousal: 0.9 },
  happy: { valence: 0.9, arousal: 0.6 },
  sad: { valence: -0.8, arousal: 0.2 },
  surprise: { valence: 0.2, arousal: 0.9 },
  neutral: { valence: 0, arousal: 0 },
}

/** Computes EMO from the expressions of a face, weighted by the model's confidence in each. Null without a known one. */
export function emoOf(
  expressions: readonly { emotion: string; score: number }[],
): { valence: number; arousal: number } | null {
  const known = expressions.flatMap(({ emotion, score }) => {
    const place = EXPRESSIONS[emotion]
    return place ? [{ ...place, score }] : []
  })
  const total = known.reduce((sum, { score }) => sum + score, 0)
  if (total === 0) return null
  const mean = (of: (one: (typeof known)[number]) => number) =>
    rounded(known.reduce((sum, one) => sum + one.score * of(one), 0) / total)
  return { valence: mean(({ valence }) => valence), arousal: mean(({ arousal }) => arousal) }
}

const rounded = (value: number) => Math.round(value * 1000) / 1000
