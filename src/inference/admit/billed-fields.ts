import { GazewayError } from '../../errors.ts'
import { PRESETS } from '../../providers/providers.ts'
import { ANSWER_LIMITS } from '../api/answer-limit.ts'
import type { BoundedRequest } from './worst-case.ts'

/** Fields that determine the bill of a request. */
const BILLED_BY = ['model', 'stream', 'n', 'best_of', 'service_tier', 'speed', 'inference_geo', ...ANSWER_LIMITS]

/**
 * Values of the billing fields in a request. A field that occurs twice is ambiguous: servers differ in which one they
 * use.
 */
export function billedFields(json: BoundedRequest['json']): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const name of BILLED_BY) if (json[name] !== undefined) fields[name] = json[name]
  return fields
}

/** Fields that the bound of a call depends on. */
const READ = new Set([
  ...BILLED_BY,
  ...PRESETS.flatMap(({ pricedFields }) => Object.keys(pricedFields.fields)),
  ...['background', 'prompt', 'query', 'documents', 'tools', 'web_search_options', 'search_parameters', 'mcp_servers'],
])

/**
 * Rejects names that differ from those of billing fields in their case alone. Servers differ in whether they read them.
 *
 * @throws GazewayError `validation_failed`
 */
export function requireExactNames(json: BoundedRequest['json']): void {
  for (const name in json) {
    const field = name.toUpperCase().toLowerCase()
    if (field === name || !READ.has(field)) continue
    throw new GazewayError('validation_failed', `${name}: not a field; did you mean ${field}?`, { param: name })
  }
}

/** Fields that multiply the cost of a request. */
const COUNTS = [...ANSWER_LIMITS, 'n', 'best_of']

/**
 * Rejects counts that servers interpret differently, such as -1 or `"128"`.
 *
 * @throws GazewayError `validation_failed`
 */
export function requireCounts(json: BoundedRequest['json']): void {
  for (const name of COUNTS) {
    const value = json[name] ?? null
    if (value !== null && !(Number.isSafeInteger(value) && (value as number) > 0))
      throw new GazewayError('validation_failed', `${name}: must be a whole number above 0.`, { param: name })
  }
}
