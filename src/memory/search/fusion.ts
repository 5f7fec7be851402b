import type { Hit } from './memory-search.ts'

/** Damps the first ranks, so that they do not decide alone (Cormack, Clarke and Büttcher 2009). */
const K = 60

/**
 * Ranks memories by their ranks in two lists (reciprocal rank fusion), best first. A memory that is first in both
 * scores 1.
 *
 * ```formula
 * score = (1 / (k + r₁) + 1 / (k + r₂)) × (k + 1) / 2
 * ```
 */
export function fuse(first: readonly Hit[], second: readonly Hit[]): Hit[] {
  const scores = new Map<number, number>()
  for (const hits of [first, second])
    for (const [i, { seq }] of hits.entries()) scores.set(seq, (scores.get(seq) ?? 0) + (K + 1) / 2 / (K + i + 1))
  return [...scores]
    .map(([seq, score]) => ({ seq, score: Number(score.toFixed(4)) }))
    .sort((a, b) => b.score - a.score || b.seq - a.seq)
}
