import * as z from 'zod'

const share = z.number().min(0).max(1).nullable()

/** Signs of attention, each 0 to 1, or null where nothing was measured. */
export const AttentionEvidence = z.object({
  coverage: share.describe('share of the needed records and of the expected time'),
  plausibility: share.describe('how like a person’s the records are'),
  novelty: share.describe('1 less the greatest likeness to another stream of the same key; 0 for a copy'),
  liveness: share.describe('kept for what answers a challenge; always null'),
  provenance: share.describe('kept for devices that sign what they measure; always null'),
  reasons: z.array(z.string()).describe('why it is not more'),
})
export type AttentionEvidence = z.infer<typeof AttentionEvidence>

const UNMEASURED = {
  coverage: 'there are no records',
  plausibility: 'no source has ten fixations or dwells',
  novelty: 'there are too few records to compare',
  liveness: 'no challenge was answered',
  provenance: 'no enrolled device signed the records',
} as const

/** Composes evidence from what was measured, with the reason for each sign that is null. */
export function evidenceOf({
  coverage,
  plausibility,
  novelty,
}: Pick<AttentionEvidence, 'coverage' | 'plausibility' | 'novelty'>): AttentionEvidence {
  const signs = { coverage, plausibility, novelty, liveness: null, provenance: null }
  const names = Object.keys(UNMEASURED) as (keyof typeof UNMEASURED)[]
  const missing = names.filter((name) => signs[name] === null)
  return { ...signs, reasons: missing.map((name) => `${name} is not measured: ${UNMEASURED[name]}`) }
}
