/**
 * Latencies are counted in buckets that grow by a constant factor, so that a quantile is known within 2.5 % from a few
 * counters, and counters of different hours add up (DDSketch: Masson, Rim and Lee, VLDB 2019).
 */
const RELATIVE_ERROR = 0.025
const GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)

/** The bucket of a latency in milliseconds; everything up to 1 ms is bucket 0. */
export const latencyBucket = (ms: number): number => (ms <= 1 ? 0 : Math.ceil(Math.log(ms) / Math.log(GROWTH)))

/** The latency, in whole milliseconds, that stands for a bucket. */
export const bucketLatency = (bucket: number): number => Math.round((2 * GROWTH ** bucket) / (GROWTH + 1))

/** Calls by bucket as pairs: the JSON of a sum. */
export type BucketCounts = Iterable<readonly [bucket: number, calls: number]>

/** Adds calls by bucket to those of `counts`. */
export function addCounts(counts: Map<number, number>, more: BucketCounts): void {
  for (const [bucket, calls] of more) counts.set(bucket, (counts.get(bucket) ?? 0) + calls)
}

/**
 * The latency below which a share `q` (0–1) of the counted calls lies; null without calls.
 *
 * @param counts calls by bucket
 */
export function quantile(counts: ReadonlyMap<number, number>, q: number): number | null {
  const total = [...counts.values()].reduce((sum, calls) => sum + calls, 0)
  if (total === 0) return null
  let seen = 0
  for (const [bucket, calls] of [...counts].sort(([a], [b]) => a - b)) {
    seen += calls
    if (seen >= q * total) return bucketLatency(bucket)
  }
  return null
}
