import { Counter, type CounterConfiguration, type Histogram, type HistogramConfiguration } from 'prom-client'

/** What has been counted of one combination of labels since the counter was last read. */
export interface Tally {
  add(amount: number): void
}

/**
 * A counter that is told its sums when it is read. prom-client looks its labels up at each count, which for the handful
 * of counters that each request moves takes as long as the checks of its key.
 *
 * @returns the tally of a combination of labels; whoever counts often keeps it
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
      // What was never counted has no sample.
      if (sum === null) return
      const told = sum
      sum = 0
      counter.labels(...labels).inc(told)
    })
    return {
      add(amount) {
        sum = (sum ?? 0) + amount
      },
    }
  }
}

/** What has been observed of one combination of labels. */
export interface Observed {
  observe(value: number): void
}

/**
 * A histogram that makes its samples when it is read. prom-client finds the series and the bucket of each observation by
 * names that it puts together anew, which takes fifteen times as long.
 *
 * @param configuration its `buckets` are the upper bounds, ascending
 * @returns what has been observed of a combination of labels; whoever observes often keeps it
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
  // A registry asks a metric for its name and its samples, whatever class it is of.
  for (const registry of registers) registry.registerMetric({ name, get } as unknown as Histogram)

  return (...values) => {
    const own = Object.fromEntries(labelNames.map((label, i) => [label, values[i]]))
    // By bucket; the last one is that of what is above all bounds.
    const counts = new Float64Array(buckets.length + 1)
    let sum = 0
    series.push(() => {
      let count = 0
      const upTo = [...counts].map((inBucket, i) => {
        count += inBucket
        return { metricName: `${name}_bucket`, labels: { le: buckets[i] ?? '+Inf', ...own }, value: count }
      })
      // What was never observed has no sample.
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
