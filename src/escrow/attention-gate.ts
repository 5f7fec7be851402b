import type { Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import type { GazeVerifier } from '../gaze/verification.ts'
import type { Schema } from '../store/schema.ts'

/**
 * Has an attestation prove attention to a task, and uses it up.
 *
 * @throws GazewayError `gaze_verification_failed` with the reasons; the transaction must then be given up
 */
export async function requireAttention(
  trx: Transaction<Schema>,
  verifier: GazeVerifier,
  of: { attestationId: string; taskId: string; usedBy: string; at: string },
): Promise<void> {
  const reasons = await verifier.check(trx, of)
  if (reasons.length === 0 && (await verifier.use(trx, of))) return
  const told = reasons.length > 0 ? reasons.join(' ') : 'The attestation was used before; store newer gaze records.'
  throw new GazewayError('gaze_verification_failed', `Gaze verification failed. ${told}`, { param: 'attestation_id' })
}
