import { z } from 'zod'

/** Faults after which the check of a list or record ends. */
export const ENOUGH_FAULTS = 100

/**
 * A list of any length, which zod's own checks to its end: a fault takes some 400 bytes and 4 µs, so a body of a million
 * wrong items would hold up the process for seconds and fill its memory. This one ends after {@link ENOUGH_FAULTS}; a list
 * that has a `max` needs none of it.
 */
export const list = <Item extends z.ZodType>(item: Item): z.ZodArray<Item> =>
  new List({ type: 'array', element: item }) as unknown as z.ZodArray<Item>

/** A record of any size, which ends as {@link list}. */
export const record = <Key extends z.ZodString, Value extends z.ZodType>(key: Key, value: Value) =>
  new Entries({ type: 'record', keyType: key, valueType: value }) as unknown as z.ZodRecord<Key, Value>

const List = z.core.$constructor<z.ZodArray>('List', (inst, def) => {
  z.ZodArray.init(inst, def)
  const { parse } = inst._zod
  inst._zod.parse = (payload, ctx) => {
    const input: unknown = payload.value
    if (!Array.isArray(input)) return parse(payload, ctx)
    const items: unknown[] = Array(input.length)
    payload.value = items
    for (let i = 0; i < input.length && payload.issues.length < ENOUGH_FAULTS; i++) {
      const item = finished(def.element._zod.run({ value: input[i], issues: [] }, ctx))
      if (item.issues.length > 0) payload.issues.push(...z.core.util.prefixIssues(i, item.issues))
      items[i] = item.value
    }
    return payload
  }
})

const Entries = z.core.$constructor<z.ZodRecord>('Entries', (inst, def) => {
  z.ZodRecord.init(inst, def)
  const { parse } = inst._zod
  inst._zod.parse = (payload, ctx) => {
    const input: unknown = payload.value
    if (!z.core.util.isPlainObject(input)) return parse(payload, ctx)
    const entries = {}
    payload.value = entries
    for (const [name, value] of Object.entries(input)) {
      const entry = finished(parse({ value: { [name]: value }, issues: [] }, ctx))
      payload.issues.push(...entry.issues)
      if (payload.issues.length >= ENOUGH_FAULTS) break
      Object.assign(entries, entry.value)
    }
    return payload
  }
})

function finished(result: z.core.util.MaybeAsync<z.core.ParsePayload>): z.core.ParsePayload {
  if (result instanceof Promise) throw new z.core.$ZodAsyncError()
  return result
}
