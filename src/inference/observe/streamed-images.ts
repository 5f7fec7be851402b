import { readUsage } from '../../providers/token-usage.ts'
import { isObject } from '../../text/json.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { splitEvents } from '../../wire/whole-sse-events.ts'
import { eventData } from './event-data.ts'
import type { Observed } from './observe.ts'
import { readTerms } from './reported-terms.ts'

/** Type of the event with a whole image (https://platform.openai.com/docs/api-reference/images-streaming). */
const COMPLETED = 'image_generation.completed'

/** Images of a stream. Each tells the usage of itself alone. */
export interface StreamedImages {
  read(events: Buffer): void
  /**
   * Number of the images, and usage of all of them together where each tells its own. Null where some do, or where there
   * are fewer images than `least`.
   */
  observed(least: number): Observed | null
}

/** Creates the reader of one stream. */
export function streamedImages(): StreamedImages {
  let made = 0
  let told = 0
  let usage: unknown
  let answer: unknown
  return {
    read(events) {
      if (!events.includes(COMPLETED)) return
      for (const event of splitEvents(events)) {
        const data = eventData(event)
        if (data?.type !== COMPLETED) continue
        made += 1
        if (readUsage(data.usage) === null) continue
        told += 1
        usage = sumOf(usage, data.usage)
        const { model, service_tier } = fieldsOrNone(data)
        answer = { model, service_tier }
      }
    },
    observed(least) {
      if (made < least || (told > 0 && told < made)) return null
      const terms = { ...readTerms(answer, usage), uses: { image: made } }
      return { usage: readUsage(usage), terms, generated: null }
    },
  }
}

/** Adds the counts of two usages, field by field. */
function sumOf(one: unknown, other: unknown): unknown {
  if (typeof one === 'number' && typeof other === 'number') return one + other
  if (!isObject(one) || !isObject(other)) return other ?? one
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries([...names].map((name) => [name, sumOf(one[name], other[name])]))
}
