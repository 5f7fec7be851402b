import type { HonoRequest } from 'hono'
import { GazewayError } from '../../src/errors.ts'

/**
 * Reads a query string, with the named values as numbers. A value that is not a number stays text, for the schema to
 * refuse.
 *
 * @throws GazewayError `validation_failed` for a repeated name, because one of its values would be ignored
 */
export function readQuery(request: HonoRequest, numbers: readonly string[] = []): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(request.queries()).map(([name, [text = '', ...more]]) => {
      if (more.length > 0)
        throw new GazewayError('validation_failed', `${name}: sent more than once; send it once.`, { param: name })
      const isNumber = numbers.includes(name) && /^-?\d+(\.\d+)?$/.test(text)
      return [name, isNumber ? Number(text) : text]
    }),
  )
}
