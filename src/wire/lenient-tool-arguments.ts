import type * as z from 'zod'

/**
 * Reads the arguments of a tool call as the model meant them. Changes only fields that their schema refuses:
 *
 * - null, or an empty text, in an optional field: the field is absent
 * - a text that is JSON of the right type: that value
 * - a text where a list is wanted: its parts between commas
 *
 * Whatever still does not fit stays as it is, for the error message.
 *
 * @example
 * import * as z from 'zod'
 *
 * readAsMeant(z.object({ limit: z.int(), tags: z.array(z.string()) }), { limit: '5', tags: 'a, b' })
 * // { limit: 5, tags: ['a', 'b'] }
 */
export function readAsMeant(schema: z.ZodObject, input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const meant = Object.entries(input).flatMap(([name, value]) => {
    const field = schema.shape[name]
    if (!field || accepts(field, value)) return [[name, value]]
    if ((value === null || value === '') && accepts(field, undefined)) return []
    if (typeof value !== 'string') return [[name, value]]
    const readings = [parsed(value), value.split(',').map((part) => part.trim())]
    return [[name, readings.find((reading) => reading !== undefined && accepts(field, reading)) ?? value]]
  })
  return Object.fromEntries(meant)
}

const accepts = (field: z.core.$ZodType, value: unknown): boolean => (field as z.ZodType).safeParse(value).success

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
