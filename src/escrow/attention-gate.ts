import type { Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import type { Check, GazeVerifier } from '../gaze/verification.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'

/** An attestation and the result of its verification. */
export interface Attention {
  attestationId: string
  /** Reasons of the verifier against it, found before the transaction; empty when it passes. */
  reasons: readonly string[]
}

/** Verifies an attestation. Runs before the transaction, because it can be slow. */
export async function verifyAttention({ db }: Store, verifier: GazeVerifier, of: Check): Promise<Attention> {
  return { attestationId: of.attestationId, reasons: await verifier.check(db, of) }
}

/**
 * Uses an attestation that passes.
 *
 * @throws GazewayError `gaze_verification_failed` with the reasons; the transaction must then be rolled back
 */
export async function requireAttention(
  trx: Transaction<Schema>,
  verifier: GazeVerifier,
  { attestationId, reasons }: Attention,
  of: { usedBy: string; at: string },
): Promise<void> {
  if (reasons.length === 0 && (await verifier.use(trx, { attestationId, ...of }))) return
  const why = reasons.length > 0 ? reasons.join(' ') : 'The attestation was used before. Store newer gaze records.'
  throw new GazewayError('gaze_verification_failed', `Gaze verification failed. ${why}`, { param: 'attestation_id' })
}
