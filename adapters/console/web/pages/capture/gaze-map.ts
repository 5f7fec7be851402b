/** Sample of a look at a known point: features of the face, and the position of the point in the window (0 to 1). */
export interface CalibrationSample {
  features: readonly number[]
  x: number
  y: number
}

/** Maps features of a face to a position in the window. */
export interface GazeMap {
  at(features: readonly number[]): { x: number; y: number }
  /** Mean error on points outside the training set, as a share of the window. */
  error: number
}

/** Ridge parameter. It keeps the weights small when there are few samples. Features are standardised first. */
const RIDGE = 0.5

/**
 * Learns a person's gaze from samples of looks at known points: ridge regression (Hoerl and Kennard 1970) of the position on
 * the features. Its error is cross-validated by leaving out one point at a time.
 *
 * @param samples several for each of at least four points
 * @returns null when there are fewer points
 */
export function learnGaze(samples: readonly CalibrationSample[]): GazeMap | null {
  const points = [...new Set(samples.map(pointOf))]
  if (points.length < 4) return null
  const misses = points.flatMap((point) => {
    const guess = fit(samples.filter((sample) => pointOf(sample) !== point))
    return samples
      .filter((sample) => pointOf(sample) === point)
      .map((sample) => distance(guess(sample.features), sample))
  })
  const guess = fit(samples)
  return {
    at(features) {
      const { x, y } = guess(features)
      return { x: clamp(x), y: clamp(y) }
    },
    error: mean(misses),
  }
}

const pointOf = ({ x, y }: CalibrationSample) => `${x}/${y}`
const clamp = (value: number) => Math.min(1, Math.max(0, value))
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const distance = (a: { x: number; y: number }, b: { x: number; y: number }) => Math.hypot(a.x - b.x, a.y - b.y)

function fit(samples: readonly CalibrationSample[]): (features: readonly number[]) => { x: number; y: number } {
  const width = samples[0]?.features.length ?? 0
  const columns = Array.from({ length: width }, (_, i) => samples.map((sample) => sample.features[i] ?? 0))
  const centers = columns.map(mean)
  const scales = columns.map((column, i) => Math.sqrt(mean(column.map((v) => (v - (centers[i] ?? 0)) ** 2))) || 1)
  const standard = (features: readonly number[]) =>
    centers.map((center, i) => ((features[i] ?? center) - center) / (scales[i] ?? 1))
  const rows = samples.map((sample) => standard(sample.features))
  const [toX, toY] = (['x', 'y'] as const).map((axis) => {
    const middle = mean(samples.map((sample) => sample[axis]))
    const weights = solveRidge(
      rows,
      samples.map((sample) => sample[axis] - middle),
    )
    return (row: readonly number[]) => weights.reduce((sum, weight, i) => sum + weight * (row[i] ?? 0), middle)
  })
  return (features) => {
    const row = standard(features)
    return { x: toX?.(row) ?? 0.5, y: toY?.(row) ?? 0.5 }
  }
}

/** The weights w that minimise |Aw − b|² + RIDGE·|w|²: (AᵀA + RIDGE·I) w = Aᵀb, by Gaussian elimination. */
function solveRidge(rows: readonly (readonly number[])[], values: readonly number[]): number[] {
  const size = rows[0]?.length ?? 0
  const system = Array.from({ length: size }, (_, i) => [
    ...Array.from({ length: size }, (_, j) =>
      rows.reduce((sum, row) => sum + (row[i] ?? 0) * (row[j] ?? 0), i === j ? RIDGE : 0),
    ),
    rows.reduce((sum, row, k) => sum + (row[i] ?? 0) * (values[k] ?? 0), 0),
  ])
  // The matrix is positive definite, so no pivot is zero and no pivot search is needed.
  for (const [i, pivot] of system.entries()) {
    const lead = pivot[i] ?? 1
    for (let j = i; j <= size; j++) pivot[j] = (pivot[j] ?? 0) / lead
    for (const [k, row] of system.entries()) {
      if (k === i) continue
      const factor = row[i] ?? 0
      for (let j = i; j <= size; j++) row[j] = (row[j] ?? 0) - factor * (pivot[j] ?? 0)
    }
  }
  return system.map((row) => row[size] ?? 0)
}
