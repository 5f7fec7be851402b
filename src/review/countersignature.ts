import { createHash } from 'node:crypto'
import { payloadOf, signedBytes } from '../signing/envelope.ts'
import { isSignedBy, type SshKey } from '../signing/ssh-key.ts'
import { parseJson } from '../text/json.ts'
import type { OpenedReceipt } from './receipt.ts'
import { type Observation, ObservationStatement } from './statement.ts'

/** Statement of a countersignature about a review. It is trusted once `isBy` is true for a trusted key. */
export interface Countersignature {
  observation: Observation
  isBy(key: SshKey): boolean
}

/** Reads the countersignature of a receipt. Null without one, and for one over another receipt. */
export function countersignatureOf({ observer, payload }: OpenedReceipt): Countersignature | null {
  const [plain] = observer?.signatures ?? []
  if (observer === undefined || plain === undefined) return null
  const content = payloadOf(observer)
  const statement = ObservationStatement.safeParse(parseJson(content.toString()))
  if (!statement.success) return null
  const { subject, predicate } = statement.data
  if (subject[0]?.digest.sha256 !== createHash('sha256').update(payload).digest('hex')) return null
  const isBy = (key: SshKey) => isSignedBy(key, signedBytes(content), Buffer.from(plain.sig, 'base64'))
  return { observation: predicate, isBy }
}
