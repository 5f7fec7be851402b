import { Counter, Gauge, Registry } from 'prom-client'
import { type Description, METRICS, type MetricName, type NameOf } from './descriptions.ts'
import { type Observed, type Tally, tallyingCounter, tallyingHistogram } from './tallying-metrics.ts'

/** Value of a gauge, with its labels in the order of the description. */
export type Reading = readonly [value: number, ...labels: string[]]

/** Creators of the described metrics, each of which is created once. */
export interface Meters {
  /** Metrics that every caller may see. */
  shared: Registry
  /** Metrics whose labels name keys. */
  ofKeys: Registry
  /** @returns the tally of a combination of labels; frequent callers keep it */
  counter(name: NameOf<'counter'>): (...labels: string[]) => Tally
  /** @returns the observations of a combination of labels; frequent callers keep it */
  histogram(name: NameOf<'histogram'>): (...labels: string[]) => Observed
  /** Creates a gauge that is read at each scrape. Series that a reading lacks are gone. */
  gauge(name: NameOf<'gauge'>, read: () => readonly Reading[] | Promise<readonly Reading[]>): void
  /** Creates a counter that `flush` increments before each scrape. */
  flushed(name: NameOf<'counter'>, flush: () => Promise<void>): Counter
}

/** Creates meters without a metric. */
export function createMeters(): Meters {
  const shared = new Registry()
  const ofKeys = new Registry()

  function configurationOf(name: MetricName) {
    const { help, labels, namesKeys }: Description = METRICS[name]
    return { name, help, labelNames: [...labels], registers: [namesKeys ? ofKeys : shared] }
  }
  return {
    shared,
    ofKeys,
    counter: (name) => tallyingCounter(configurationOf(name)),
    histogram: (name) => tallyingHistogram({ ...configurationOf(name), buckets: [...METRICS[name].buckets] }),
    gauge(name, read) {
      const labels: readonly string[] = METRICS[name].labels
      new Gauge({
        ...configurationOf(name),
        async collect() {
          const readings = await read()
          this.reset()
          // Without labels, a reset gauge has the value 0.
          if (readings.length === 0 && labels.length === 0) this.remove()
          for (const [value, ...values] of readings)
            this.inc(Object.fromEntries(labels.map((label, at) => [label, values[at] ?? ''])), value)
        },
      })
    },
    flushed: (name, flush) => new Counter({ ...configurationOf(name), collect: flush }),
  }
}
