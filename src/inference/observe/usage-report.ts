import { statedCost } from '../../providers/stated-cost.ts'
import { readUsage, type Usage } from '../../providers/token-usage.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import type { Micros } from '../../text/money.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { EventData } from './event-data.ts'
import { generatedBy } from './generated-text.ts'
import type { KeptEvents } from './kept-events.ts'

/** Usage that a stream reports. */
export interface UsageReport {
  /** Reads an event that may report usage. */
  read(data: EventData | null): void
  /** Notes an event that reports none, in a chunk with one that does. */
  pass(event: Buffer): void
  /** Last usage reported. */
  usage(): Usage | null
  /** Usage at the start of a Message: its prompt. Null without one. */
  promptUsage(): Usage | null
  /** Service tier in the event that reported it. Undefined without one. */
  serviceTier(): unknown
  /** Last cost stated, in micro-dollars. Null without one. */
  stated(): Micros | null
  /** Tells whether the model generated more after that report, so that it is too low for a stream that is cut off. */
  isOutdated(): boolean
}

/** Reads the usage of a stream whose events are kept in `kept`. */
export function readReport(kept: KeptEvents): UsageReport {
  let usage: Usage | null = null
  let serviceTier: unknown
  let stated: Micros | null = null
  let begunUsage: Fields = {}
  /** Additions kept when the last usage was reported, and whether the newest of them has text after it. */
  let keptAtUsage = 0
  let generatedSince = false

  /**
   * Usage in an event. A Message reports its prompt at the start and its answer at the end. Before the end nothing
   * counts as reported, so that a truncated Message is counted.
   */
  function usageIn(data: EventData | null): unknown {
    if (data?.type === 'message_start') return null
    if (data?.type === 'message_delta') return { ...begunUsage, ...present(fieldsOrNone(data.usage)) }
    return data?.usage ?? data?.response?.usage
  }
  return {
    read(data) {
      if (data?.type === 'message_start') begunUsage = fieldsOrNone(fieldsOrNone(data.message).usage)
      const found = usageIn(data)
      stated = statedCost(found) ?? stated
      const reported = readUsage(found)
      if (reported === null) return
      usage = reported
      serviceTier = data?.service_tier ?? data?.response?.service_tier ?? serviceTier
      keptAtUsage = kept.count()
      generatedSince = false
    },
    pass(event) {
      generatedSince ||= usage !== null && generatedBy(event) !== ''
    },
    usage: () => usage,
    promptUsage: () => readUsage(begunUsage),
    serviceTier: () => serviceTier,
    stated: () => stated,
    isOutdated: () => generatedSince || kept.hasTextAfter(keptAtUsage),
  }
}
