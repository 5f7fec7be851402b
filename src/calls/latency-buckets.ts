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

/** Calls by bucket: the index is the bucket; a bucket without calls may be a hole. */
export type LatencyCounts = number[]

/** Adds `calls` of one bucket. */
export function addLatency(counts: LatencyCounts, bucket: number, calls: number): void {
  counts[bucket] = (counts[bucket] ?? 0) + calls
}

/** Adds the counts of a stored sum. @param text as of {@link latenciesText} */
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

/** The latency below which a share `q` (0–1) of the counted calls lies; null without calls. */
export function quantile(counts: LatencyCounts, q: number): number | null {
  const total = counts.reduce((sum, calls) => sum + calls, 0)
  let seen = 0
  const bucket = counts.findIndex((calls = 0) => {
    seen += calls
    return seen > 0 && seen >= q * total
  })
  return bucket === -1 ? null : bucketLatency(bucket)
}
