import { ANTHROPIC_FIELDS } from './anthropic-fields.ts'
import type { FieldKinds, PricedFields } from './priced-fields.ts'

const kindsOf = ({ fields: { tools } }: PricedFields): FieldKinds['kinds'] =>
  typeof tools === 'object' && 'kinds' in tools ? tools.kinds : {}

const isClaude = (model: string): boolean => model.includes('claude')

/** Request fields of a cloud with Claude by Messages, and other models by another API. */
export function besideClaude(other: PricedFields): PricedFields {
  const { fees = {} } = other
  const kinds = { ...kindsOf(other), ...kindsOf(ANTHROPIC_FIELDS) }
  return {
    fields: { ...other.fields, ...ANTHROPIC_FIELDS.fields, tools: { by: 'type', kinds, others: 'refused' } },
    fees: (model) => {
      if (isClaude(model)) return { search: 10_000 }
      return typeof fees === 'function' ? fees(model) : fees
    },
    // Endpoints of a region or of several cost a tenth more than the global one, from Claude 4.5 on:
    // https://platform.claude.com/docs/en/about-claude/pricing, read 2026-11-26.
    tiers: (model) =>
      isClaude(model)
        ? { ...ANTHROPIC_FIELDS.tiers?.(model), region: { us: 110, regional: 110 } }
        : (other.tiers?.(model) ?? {}),
  }
}
