import { ANTHROPIC_FIELDS } from './anthropic-fields.ts'
import { OPENAI_FIELDS } from './openai-fields.ts'
import { OPENROUTER_FIELDS } from './openrouter-fields.ts'
import type { FieldKinds, PricedFields } from './priced-fields.ts'
import { presetOf } from './providers.ts'

/** Fields at a base URL, where any of the known providers may answer; its own tools are not known. */
function fieldsAnywhere(): PricedFields {
  const all = [OPENAI_FIELDS, OPENROUTER_FIELDS, ANTHROPIC_FIELDS].map(({ fields }) => fields)
  const kinds = all.flatMap((fields) => Object.entries((fields.tools as FieldKinds).kinds))
  const running = Object.fromEntries(kinds.filter(([, kind]) => kind.needsModel))
  return { fields: { ...Object.assign({}, ...all), tools: { by: 'type', kinds: running, others: 'allowed' } } }
}

let anywhere: PricedFields | undefined

/**
 * Request fields that change the model or the price at a provider.
 *
 * @param vendor name of a preset; null for a base URL
 * @returns null for the agent gateway, which has no vendor
 */
export function pricedFieldsAt(vendor: string | null | undefined): PricedFields | null {
  if (vendor === undefined) return null
  if (vendor !== null) return presetOf(vendor)?.pricedFields ?? null
  anywhere ??= fieldsAnywhere()
  return anywhere
}
