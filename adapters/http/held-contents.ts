import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node'

/** Most characters of contents that wait for the collector: spans are limited by number alone. */
const MOST_CHARACTERS = 32 * 1024 * 1024

/** Contents in the spans that wait for a collector. */
export interface HeldContents {
  /** Tells whether there is place for further contents. */
  fits(characters: number): boolean
  /** Notes a span with the length of its contents, before it is queued. */
  note(spanId: string, characters: number): void
}

/**
 * Creates the count of the contents that wait for a collector, and an exporter that counts those down which it has sent
 * or given up. Spans are exported in their order, so those before an exported one do not wait any more: the queue has
 * dropped them.
 */
export function holdContents(exporter: SpanExporter): { held: HeldContents; exporter: SpanExporter } {
  const waiting = new Map<string, number>()
  let sum = 0

  function release(spans: readonly ReadableSpan[]): void {
    const last = spans.map((span) => span.spanContext().spanId).findLast((id) => waiting.has(id))
    if (last === undefined) return
    for (const [id, characters] of waiting) {
      waiting.delete(id)
      sum -= characters
      if (id === last) return
    }
  }
  return {
    held: {
      fits: (characters) => sum + characters <= MOST_CHARACTERS,
      note(spanId, characters) {
        waiting.set(spanId, characters)
        sum += characters
      },
    },
    exporter: {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          release(spans)
          done(result)
        }),
      shutdown: () => exporter.shutdown(),
      forceFlush: async () => exporter.forceFlush?.(),
    },
  }
}
