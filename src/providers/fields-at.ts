import { matchesGlob } from '../text/glob.ts'
import { ANTHROPIC_FIELDS } from './anthropic-fields.ts'
import { OPENAI_FIELDS } from './openai-fields.ts'
import { OPENROUTER_FIELDS } from './openrouter-fields.ts'
import type { FieldKind, FieldKinds, PricedFields } from './priced-fields.ts'
import { PRESETS, presetOf } from './providers.ts'

/** Fields at a base URL, where any of the known providers may answer; its own tools are not known. */
function fieldsAnywhere(): PricedFields {
  const all = [OPENAI_FIELDS, OPENROUTER_FIELDS, ANTHROPIC_FIELDS].map(({ fields }) => fields)
  const kinds = all.flatMap((fields) => Object.entries((fields.tools as FieldKinds).kinds))
  const running = Object.fromEntries(kinds.filter(([, kind]) => kind.needsModel))
  return { fields: { ...Object.assign({}, ...all), tools: { by: 'type', kinds: running, others: 'allowed' } } }
}

/**
 * Finds the rule of a tool or plugin by its kind: the longest glob that matches.
 *
 * @returns undefined for a kind without a rule
 */
export function kindOf({ kinds }: FieldKinds, name: string): FieldKind | undefined {
  const globs = Object.keys(kinds).filter((glob) => matchesGlob(glob, name))
  return kinds[globs.sort((a, b) => b.length - a.length)[0] ?? '']
}

/** Tells whether any provider has a kind of tool. Others ignore or refuse it, so that it costs nothing there. */
export const isKnownTool = (name: string): boolean =>
  PRESETS.some(({ pricedFields: { fields } }) => {
    const { tools } = fields
    return typeof tools === 'object' && 'kinds' in tools && kindOf(tools, name) !== undefined
  })

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
