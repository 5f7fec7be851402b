/**
 * Relative error of a latency. Buckets grow by a constant factor, so quantiles are accurate to 2.5 % with few counters,
 * and counters of different hours can be added up (DDSketch: Masson, Rim and Lee, VLDB 2019).
 */
const RELATIVE_ERROR = 0.025
const GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)

/** Bucket of a latency in milliseconds. Up to 1 ms is bucket 0. */
export const latencyBucket = (ms: number): number => (ms <= 1 ? 0 : Math.ceil(Math.log(ms) / Math.log(GROWTH)))

/**
 * Latency that represents a bucket, in whole milliseconds.
 *
 * @example bucketLatency(latencyBucket(250)) // within 2.5 % of 250
 */
export const bucketLatency = (bucket: number): number => Math.round((2 * GROWTH ** bucket) / (GROWTH + 1))

/** Calls by bucket. The array may be sparse. */
export type LatencyCounts = number[]

/** Adds calls to one bucket. */
export function addLatency(counts: LatencyCounts, bucket: number, calls: number): void {
  counts[bucket] = (counts[bucket] ?? 0) + calls
}

/**
 * Adds the counts of a stored sum.
 *
 * @param text as of {@link latenciesText}
 */
export function addLatencies(counts: LatencyCounts, text: string): void {
  const pairs: number[] = JSON.parse(text)
  for (let i = 0; i < pairs.length; i += 2) addLatency(counts, pairs[i] as number, pairs[i + 1] as number)
}

/**
 * Serializes counts for a stored sum: a flat JSON list of pairs, bucket and calls. Charts read thousands of them.
 *
 * @example latenciesText([4, 2]) // '[0,4,1,2]'
 */
export const latenciesText = (counts: LatencyCounts): string =>
  JSON.stringify(counts.flatMap((calls, bucket) => [bucket, calls]))

/** Latency below which a share `q` (0–1) of the counted calls stays. Null without calls. */
export function quantile(counts: LatencyCounts, q: number): number | null {
  const total = counts.reduce((sum, calls) => sum + calls, 0)
  let seen = 0
  const bucket = counts.findIndex((calls = 0) => {
    seen += calls
    return seen > 0 && seen >= q * total
  })
  return bucket === -1 ? null : bucketLatency(bucket)
}
