import type * as z from 'zod'
import { GazewayError } from '../../src/errors.ts'
import { explain } from '../../src/wire/validation.ts'

/**
 * Parses the value of a flag with a schema.
 *
 * @throws GazewayError `validation_failed` with the flag in `param`; the message leaves the value out
 */
export function checked<S extends z.ZodType>(flag: string, schema: S, value: string): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new GazewayError('validation_failed', explain(result.error, schema, value, { name: flag }).message, {
    param: flag,
  })
}
