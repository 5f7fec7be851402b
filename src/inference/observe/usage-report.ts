import { readUsage, type Usage } from '../../providers/token-usage.ts'
import { usageField } from '../../providers/usage-field.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { createChatTools } from './chat-tools.ts'
import type { EventData } from './event-data.ts'
import { generatedBy } from './generated-text.ts'
import { type ReportedTerms, readTerms } from './reported-terms.ts'
import type { StreamPrefix } from './stream-prefix.ts'

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
  /** Terms of the price in the last event that reported usage. Null without one. */
  terms(): ReportedTerms | null
  /** Tells whether the model generated more after that report, so that it is too low for a stream that is cut off. */
  isOutdated(): boolean
}

/** Reads the usage of a stream whose events are kept in `kept`. */
export function readReport(kept: StreamPrefix): UsageReport {
  let usage: Usage | null = null
  /** The last event with a usage, and that usage. */
  let telling: { answer: unknown; used: unknown } | null = null
  let begun: Fields = {}
  const tools = createChatTools()
  /** Additions kept when the last usage was reported, and whether the newest of them has text after it. */
  let keptAtUsage = 0
  let generatedSince = false

  /**
   * Usage in an event. A Message reports its prompt at the start and its answer at the end. Before the end nothing
   * counts as reported, so that a truncated Message is counted.
   */
  function usageIn(data: EventData | null): unknown {
    if (data?.type === 'message_start') return null
    if (data?.type === 'message_delta') return { ...fieldsOrNone(begun.usage), ...present(fieldsOrNone(data.usage)) }
    return usageField(data)
  }
  return {
    read(data) {
      tools.read(data?.choices ?? data?.candidates)
      if (data?.type === 'message_start') begun = fieldsOrNone(data.message)
      const found = usageIn(data)
      if (found) telling = { answer: data?.type === 'message_delta' ? begun : (data?.response ?? data), used: found }
      const reported = readUsage(found)
      if (reported === null) return
      usage = reported
      keptAtUsage = kept.count()
      generatedSince = false
    },
    pass(event) {
      generatedSince ||= usage !== null && generatedBy(event) !== ''
    },
    usage: () => usage,
    promptUsage: () => readUsage(begun.usage),
    terms: () => telling && readTerms(telling.answer, telling.used, tools),
    isOutdated: () => generatedSince || kept.hasTextAfter(keptAtUsage),
  }
}
