import type { PlaceDwell } from '../gaze/dwell.ts'
import { insideAny } from '../repository/confine.ts'
import { decayedDwell } from './interest.ts'

/** Attention with its decayed part, which determines the interest. */
export interface Attention {
  dwellMs: number
  /** See `decayedDwell`. */
  decayedMs: number
  lastSeenAt: string
}

/** Attention on a file and on separate ranges of its lines, most attended first. */
export interface FileAttention extends Attention {
  regions: Array<Attention & { from: number; to: number }>
}

/** Maximum number of regions per file. Attention on further regions counts for the whole file only. */
const REGIONS = 5

/**
 * Sums attention by file, relative to the root. Places outside the root are dropped. Line ranges that overlap or touch
 * are merged.
 *
 * @param roots the root and its other names (before its links were resolved)
 */
export function attentionByFile(
  rows: readonly PlaceDwell[],
  roots: readonly string[],
  now: Date,
): Map<string, FileAttention> {
  const paths = new Map<string, string | null>()
  const byFile = new Map<string, PlaceDwell[]>()
  for (const row of rows) {
    const path = paths.get(row.path) ?? insideAny(roots, row.path)
    paths.set(row.path, path)
    if (!path) continue
    const known = byFile.get(path)
    if (known) known.push(row)
    else byFile.set(path, [row])
  }
  return new Map([...byFile].map(([path, places]) => [path, { ...sum(places, now), regions: regionsOf(places, now) }]))
}

function sum(places: readonly PlaceDwell[], now: Date): Attention {
  const visits = places.map((place) => ({
    dwellMs: place.dwell_ms,
    ageMs: now.getTime() - Date.parse(place.last_seen_at),
  }))
  return {
    dwellMs: places.reduce((total, place) => total + place.dwell_ms, 0),
    decayedMs: decayedDwell(visits),
    lastSeenAt:
      places
        .map((place) => place.last_seen_at)
        .sort()
        .at(-1) ?? '',
  }
}

function regionsOf(places: readonly PlaceDwell[], now: Date): FileAttention['regions'] {
  const ranges = places
    .flatMap((place) => {
      if (place.line_start === null || place.line_start < 1) return []
      return [{ from: place.line_start, to: Math.max(place.line_start, place.line_end ?? place.line_start), place }]
    })
    .sort((a, b) => a.from - b.from)
  const joined: Array<{ from: number; to: number; places: PlaceDwell[] }> = []
  for (const { from, to, place } of ranges) {
    const last = joined.at(-1)
    if (last && from <= last.to + 1) {
      last.to = Math.max(last.to, to)
      last.places.push(place)
    } else {
      joined.push({ from, to, places: [place] })
    }
  }
  return joined
    .map((range) => ({ from: range.from, to: range.to, ...sum(range.places, now) }))
    .sort((a, b) => b.decayedMs - a.decayedMs || a.from - b.from)
    .slice(0, REGIONS)
}
