import { MOST_COUNTED } from '../store/page.ts'
import type { TextHit } from './text-index.ts'

/** Matches that are ranked: each costs about 2 µs, and what even more memories hold says little. */
export const MOST_RANKED = 500

/** One question to a full-text index. */
export interface Matches {
  /** How many memories match, counted up to `most`. */
  count(most: number): Promise<number>
  /** The best of the newest matches, best first; in key and tags only, or with the value too. */
  rank(where: 'everywhere' | 'in key or tags'): Promise<TextHit[]>
}

/**
 * The best `limit` matches and how many there are, counted up to 1,000. Of more than 500 matches, those with the words in
 * key and tags are ranked, and then the newest.
 */
export async function bestMatches(matches: Matches, limit: number): Promise<{ hits: TextHit[]; total: number }> {
  const total = await matches.count(MOST_COUNTED)
  if (total === 0) return { hits: [], total }
  if (total <= MOST_RANKED) return { hits: await matches.rank('everywhere'), total }
  const named = await matches.rank('in key or tags')
  if (named.length === limit) return { hits: named, total }
  return { hits: best([...named, ...(await matches.rank('everywhere'))], limit), total }
}

function best(hits: readonly TextHit[], limit: number): TextHit[] {
  const bySeq = new Map(hits.map((hit) => [hit.seq, hit]))
  return [...bySeq.values()].sort((a, b) => b.score - a.score || b.seq - a.seq).slice(0, limit)
}
