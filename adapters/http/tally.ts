import { Counter, type CounterConfiguration } from 'prom-client'

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
