import type { GazeTensor } from './tensor.ts'

/** Time and position of one look, the input of eye movements. */
export type Sample = Pick<GazeTensor, 'at' | 'dwell_ms' | 'source'> & {
  env: Pick<GazeTensor['env'], 'x' | 'y'>
  session_id?: string
}

/** A tensor, stored or not, that may name its session: the input of metrics. */
export type Gaze = GazeTensor & { session_id?: string }

/**
 * The place a tensor was on: `env.path`, else `env.url`, else `env.app`; null when it names none.
 */
export function placeOf({ env }: Pick<Gaze, 'env'>): string | null {
  return env.path ?? env.url ?? env.app ?? null
}

/** The end of a tensor's dwell, in Unix milliseconds: its `at` plus its `dwell_ms`. */
export function endOf(gaze: Sample): number {
  return Date.parse(gaze.at) + gaze.dwell_ms
}

/** Sorts tensors by time. Ties are broken by content, so the result does not depend on the order of the input. */
export function inOrder<T extends Sample>(records: readonly T[]): T[] {
  return [...records].sort((a, b) => compare(a.at, b.at) || compare(JSON.stringify(a), JSON.stringify(b)))
}

/**
 * Splits records into ordered scanpaths, one per session and source. Overlapping sessions stay separate. Sources that
 * watch the same person stay separate, because a change between them is not an eye movement.
 */
export function scanpaths<T extends Sample>(records: readonly T[]): T[][] {
  const paths = new Map<string, T[]>()
  for (const record of inOrder(records)) {
    const key = JSON.stringify([record.session_id, record.source])
    const path = paths.get(key)
    if (path) path.push(record)
    else paths.set(key, [record])
  }
  return [...paths.values()]
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
