import { Counter, type CounterConfiguration, type Histogram, type HistogramConfiguration } from 'prom-client'

/** Pending count of one combination of labels. */
export interface Tally {
  add(amount: number): void
}

/**
 * Creates a counter that passes its sums to prom-client on each read. prom-client resolves labels for each count, which
 * is slow for counters that every request increments.
 *
 * @returns the tally of a combination of labels; frequent callers keep it
 */
export function tallyingCounter<Label extends string>(
  configuration: CounterConfiguration<Label>,
): (...labels: string[]) => Tally {
  const tallies: Array<(counter: Counter<Label>) => void> = []
  new Counter({
    ...configuration,
    collect() {
      for (const tell of tallies) tell(this)
    },
  })
  return (...labels) => {
    let sum: number | null = null
    tallies.push((counter) => {
      // Labels that were never counted have no sample.
      if (sum === null) return
      const pending = sum
      sum = 0
      counter.labels(...labels).inc(pending)
    })
    return {
      add(amount) {
        sum = (sum ?? 0) + amount
      },
    }
  }
}

/** Observations of one combination of labels. */
export interface Observed {
  observe(value: number): void
}

/**
 * Creates a histogram that computes its samples on each read. prom-client resolves series and bucket by name for each
 * observation, which is slow.
 *
 * @param configuration its `buckets` are the upper bounds, ascending
 * @returns the observations of a combination of labels; frequent callers keep it
 */
export function tallyingHistogram<Label extends string>({
  name,
  help,
  labelNames,
  buckets,
  registers,
}: Required<Pick<HistogramConfiguration<Label>, 'name' | 'help' | 'labelNames' | 'buckets' | 'registers'>>): (
  ...labels: string[]
) => Observed {
  const series: Array<() => object[]> = []
  const get = async () => ({
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    values: series.flatMap((read) => read()),
  })
  // A registry reads only the name and the samples of a metric, whatever its class.
  for (const registry of registers) registry.registerMetric({ name, get } as unknown as Histogram)

  return (...values) => {
    const own = Object.fromEntries(labelNames.map((label, i) => [label, values[i]]))
    // Counts per bucket. The last one is for values above all bounds.
    const counts = new Float64Array(buckets.length + 1)
    let sum = 0
    series.push(() => {
      let count = 0
      const upTo = [...counts].map((inBucket, i) => {
        count += inBucket
        return { metricName: `${name}_bucket`, labels: { le: buckets[i] ?? '+Inf', ...own }, value: count }
      })
      // Labels that were never observed have no sample.
      if (count === 0) return []
      const totals = { sum, count }
      return [
        ...upTo,
        ...Object.entries(totals).map(([of, value]) => ({ metricName: `${name}_${of}`, labels: own, value })),
      ]
    })
    return {
      observe(value) {
        let bucket = 0
        while (bucket < buckets.length && value > (buckets[bucket] as number)) bucket++
        counts[bucket] = (counts[bucket] as number) + 1
        sum += value
      },
    }
  }
}
