import type { Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import type { Check, GazeVerifier } from '../gaze/verification.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'

/** What an attestation is to prove, and whether it does. */
export interface Attention {
  attestationId: string
  /** Why it does not, as the verifier found before the transaction; empty when it does. */
  reasons: readonly string[]
}

/** Has the verifier look at an attestation: before the transaction, as it takes its time. */
export async function lookAtAttention({ db }: Store, verifier: GazeVerifier, of: Check): Promise<Attention> {
  return { attestationId: of.attestationId, reasons: await verifier.check(db, of) }
}

/**
 * Uses up an attestation that proves attention.
 *
 * @throws GazewayError `gaze_verification_failed` with the reasons; the transaction must then be given up
 */
export async function requireAttention(
  trx: Transaction<Schema>,
  verifier: GazeVerifier,
  { attestationId, reasons }: Attention,
  of: { usedBy: string; at: string },
): Promise<void> {
  if (reasons.length === 0 && (await verifier.use(trx, { attestationId, ...of }))) return
  const told = reasons.length > 0 ? reasons.join(' ') : 'The attestation was used before; store newer gaze records.'
  throw new GazewayError('gaze_verification_failed', `Gaze verification failed. ${told}`, { param: 'attestation_id' })
}
