/**
 * The median: the middle value, or the mean of the two middle ones.
 *
 * @throws RangeError when there are no values
 */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const lower = sorted[Math.ceil(sorted.length / 2) - 1]
  const upper = sorted[Math.floor(sorted.length / 2)]
  if (lower === undefined || upper === undefined) throw new RangeError('There is no median of no values.')
  return (lower + upper) / 2
}

/**
 * The value below which a share `q` (0–1) of the values lies (nearest rank).
 *
 * @throws RangeError when there are no values
 */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const found = sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]
  if (found === undefined) throw new RangeError('There is no quantile of no values.')
  return found
}

/** Rounds of a measurement: `warmups` that are discarded, then `rounds` that count. */
export interface Rounds {
  warmups: number
  rounds: number
}

/**
 * Times tasks against each other: one after the other in every round, in turned order every other round, so that
 * whatever else the machine does falls on all of them alike.
 *
 * @param tasks given a number that is never the same twice
 * @returns the median time of each task, in milliseconds
 */
export async function interleave<Name extends string>(
  tasks: Record<Name, (turn: number) => unknown>,
  { warmups, rounds }: Rounds,
): Promise<Record<Name, number>> {
  const names = Object.keys(tasks) as Name[]
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>
  for (let turn = 0; turn < warmups + rounds; turn++) {
    for (const name of turn % 2 === 0 ? names : names.toReversed()) {
      const start = performance.now()
      await tasks[name](turn)
      if (turn >= warmups) samples[name].push(performance.now() - start)
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(samples[name])])) as Record<Name, number>
}
