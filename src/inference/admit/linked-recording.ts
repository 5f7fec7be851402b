import { GazewayError } from '../../errors.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { LINKING_FIELDS } from '../api/verbatim-paths.ts'

/**
 * Refuses a recording that the request does not contain: hours of it have the address of a few bytes.
 *
 * @param endpoint path below `/v1`
 * @throws GazewayError `field_not_allowed`
 */
export function requireRecording(endpoint: string, json: Fields): void {
  if (!endpoint.startsWith('/audio/')) return
  for (const name of LINKING_FIELDS) {
    const value = json[name] ?? null
    // Of several values in a list, servers differ in which they use.
    if (value === null || (typeof value === 'string' && /^data:/i.test(value))) continue
    throw new GazewayError(
      'field_not_allowed',
      `${name}: the length of a recording is not known by its address. Keys with a budget or a charge may not send it; put the recording into the request, or use a key without limits.`,
      { param: name },
    )
  }
}
