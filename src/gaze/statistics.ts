/**
 * Computes the mean of `values` weighted by `weights`. Without a weight above 0 it is the plain mean; null for no
 * values. The result never leaves the range of the values.
 */
export function weightedMean(values: readonly number[], weights: readonly number[]): number | null {
  if (values.length === 0) return null
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const mean =
    total > 0
      ? values.reduce((sum, value, i) => sum + value * (weights[i] ?? 0), 0) / total
      : values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.min(Math.max(mean, least(values)), greatest(values))
}

/** The mean of the values that are not undefined, weighted by their `weights`; null for none. See `weightedMean`. */
export function meanOfMeasured(
  values: readonly (number | undefined)[],
  weights: readonly number[] = [],
): number | null {
  const measured = values.flatMap((value, i) => (value === undefined ? [] : { value, weight: weights[i] ?? 0 }))
  return weightedMean(
    measured.map(({ value }) => value),
    measured.map(({ weight }) => weight),
  )
}

/** The median: the middle value, or the mean of the two middle values. Null for no values. */
export function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.ceil(sorted.length / 2) - 1]
  if (upper === undefined || lower === undefined) return null
  return (lower + upper) / 2
}

/** Mean and standard deviation of the population (divided by n). Both are 0 for no values. */
export function spread(values: readonly number[]): { mean: number; deviation: number } {
  if (values.length === 0) return { mean: 0, deviation: 0 }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  return { mean, deviation: Math.sqrt(variance) }
}

/**
 * Slope of the line that fits (x, y) by ordinary least squares, Σ(x − x̄)(y − ȳ) / Σ(x − x̄)². Null when all x are
 * equal, because then no line is determined.
 */
export function slope(x: readonly number[], y: readonly number[]): number | null {
  const centre = spread(x).mean
  const level = spread(y).mean
  const scale = x.reduce((sum, value) => sum + (value - centre) ** 2, 0)
  if (!(scale > 0)) return null
  return x.reduce((sum, value, i) => sum + (value - centre) * ((y[i] ?? level) - level), 0) / scale
}

/** The smallest value; `Infinity` for none. Unlike `Math.min(...values)`, works for any length. */
export function least(values: readonly number[]): number {
  return values.reduce((low, value) => Math.min(low, value), Number.POSITIVE_INFINITY)
}

/** The largest value; `-Infinity` for none. */
export function greatest(values: readonly number[]): number {
  return values.reduce((high, value) => Math.max(high, value), Number.NEGATIVE_INFINITY)
}

/** Maps `zero` to 0 and `one` to 1, linear between them and constant beyond; `one` may be smaller than `zero`. */
export function ramp(value: number, zero: number, one: number): number {
  return Math.min(1, Math.max(0, (value - zero) / (one - zero)))
}

/** Rounds `value` to this many decimals, for figures that people read. Never −0. */
export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals)) + 0
}
