import { lowest } from '../gaze/evidence-level.ts'
import { type AllowedSigner, matchesPatterns, signerFault } from '../signing/allowed-signers.ts'
import { signedBytes } from '../signing/envelope.ts'
import { OBSERVER_NAMESPACE } from '../signing/gateway-keys.ts'
import { isSignedBy } from '../signing/ssh-key.ts'
import { sshsigSigner } from '../signing/sshsig.ts'
import { passkeyFault } from '../signing/webauthn.ts'
import { countersignatureOf } from './countersignature.ts'
import { REVIEW_NAMESPACE } from './identities.ts'
import type { Policy } from './policy.ts'
import type { OpenedReceipt } from './receipt.ts'
import type { Level } from './statement.ts'

/** Greatest difference between the clocks of two machines. */
const CLOCK_SKEW_MS = 60_000
const DAY_MS = 86_400_000

/** The person who signed a receipt, and what it proves. */
export interface Authenticated {
  /** Name in the receipt, which the policy gives to the key or the passkey. */
  reviewer: string
  /** Keys that signed it: base64 of SSH keys, ids of passkeys. */
  keys: string[]
  level: Level
  /** The observer's time where there is one, else the reviewer's. */
  decidedAt: Date
  /** Evidence beside a key of the reviewer: an enrolled passkey, or a trusted observer by its key in base64. */
  witness: { passkey: boolean; observer: string | null }
}

/** A countersignature by an observer whom the policy trusts. */
interface Observed {
  level: Level
  at: Date
  /** Base64 of the observer's key. */
  key: string
}

/**
 * Checks who signed a receipt and who observed the review. Without a trusted observer that is neither the reviewer nor on a
 * machine of theirs, the level is `seen` at most; `present` takes an enrolled passkey with user verification as well.
 *
 * @returns the reason as text when the receipt does not count
 */
export function authenticate(receipt: OpenedReceipt, policy: Policy, now: Date): Authenticated | string {
  const { review } = receipt
  const observed = observedBy(receipt, policy)
  const decidedAt = observed?.at ?? new Date(review.times.decided_at)
  const age = now.getTime() - decidedAt.getTime()
  if (age < -CLOCK_SKEW_MS) return 'it is dated in the future'
  if (policy.max_age_days !== undefined && age > policy.max_age_days * DAY_MS)
    return `it is older than ${policy.max_age_days} days`
  if (policy.repository !== undefined && review.repository !== policy.repository)
    return `it is about ${review.repository ?? 'an unnamed repository'}, not ${policy.repository}`
  // Without an observer the time of a signature is the word of who holds the key, now as well.
  const signer = signerOf(receipt, policy, observed === null ? [decidedAt, now] : [observed.at])
  const passkey = passkeyOf(receipt, policy)
  const keys = [signer, passkey].flatMap((found) => ('key' in found ? [found.key] : []))
  if (keys.length === 0) return 'fault' in passkey && receipt.webauthn ? passkey.fault : (signer as Fault).fault
  const isObserved = observed !== null && !keys.includes(observed.key)
  const level = isObserved ? lowest(observed.level, 'plausible') : lowest(review.level, 'seen')
  const isPresent = isObserved && 'key' in passkey && level !== 'none'
  const witness = { passkey: 'key' in passkey, observer: isObserved ? observed.key : null }
  return { reviewer: review.reviewer.id, keys, level: isPresent ? 'present' : level, decidedAt, witness }
}

interface Fault {
  fault: string
}

/** Finds the allowed key of the reviewer that made the plain or the SSH signature, and was valid at all of these times. */
function signerOf(receipt: OpenedReceipt, policy: Policy, times: readonly Date[]): { key: string } | Fault {
  const { payload, envelope, sshsig, review } = receipt
  const { id } = review.reviewer
  const bytes = signedBytes(payload)
  const [plain] = envelope.signatures
  const detached = sshsig === undefined ? null : sshsigSigner(sshsig, bytes, REVIEW_NAMESPACE)
  const made = ({ key }: AllowedSigner) =>
    detached?.blob.equals(key.blob) || (plain !== undefined && isSignedBy(key, bytes, Buffer.from(plain.sig, 'base64')))
  const own = policy.signers.filter(({ principals }) => matchesPatterns(principals, id))
  const makers = own.filter(made)
  if (makers.length === 0) return { fault: `no key that the policy allows to ${id} signed it` }
  return firstValid(makers, policy, REVIEW_NAMESPACE, times)
}

function firstValid(makers: readonly AllowedSigner[], policy: Policy, namespace: string, times: readonly Date[]) {
  let fault = ''
  for (const maker of makers) {
    const key = maker.key.blob.toString('base64')
    const reason = policy.revoked.has(key)
      ? 'the key is revoked'
      : times.map((at) => signerFault(maker, namespace, at)).find((found) => found !== null)
    if (reason === undefined) return { key }
    fault = `${reason} (${maker.key.fingerprint})`
  }
  return { fault }
}

function passkeyOf({ webauthn, payload, review }: OpenedReceipt, policy: Policy): { key: string } | Fault {
  if (webauthn === undefined) return { fault: 'it has no passkey' }
  const { id } = review.reviewer
  const enrolled = policy.passkeys.find(
    ({ reviewer, credential_id }) => reviewer === id && credential_id === webauthn.credential_id,
  )
  if (enrolled === undefined) return { fault: `the policy enrolls no such passkey for ${id}` }
  const fault = passkeyFault(webauthn, enrolled, signedBytes(payload))
  return fault === null ? { key: enrolled.credential_id } : { fault }
}

/** Reads the countersignature. Null without one that a trusted key made over this very receipt. */
function observedBy(receipt: OpenedReceipt, policy: Policy): Observed | null {
  const found = countersignatureOf(receipt)
  if (found === null) return null
  const { level, observed_at } = found.observation
  const at = new Date(observed_at)
  const { id } = receipt.review.reviewer
  const names = [id, ...(policy.identities.get(id.toLowerCase()) ?? [])]
  const trusted = policy.signers.filter(
    ({ principals, key }) => policy.observers.some((name) => matchesPatterns(principals, name)) && found.isBy(key),
  )
  const isOfReviewer = ({ key, principals }: AllowedSigner) =>
    names.some((name) => matchesPatterns(principals, name)) &&
    trusted.some((observer) => observer.key.blob.equals(key.blob))
  if (policy.signers.some(isOfReviewer)) return null
  const valid = trusted.length === 0 ? null : firstValid(trusted, policy, OBSERVER_NAMESPACE, [at])
  return valid !== null && 'key' in valid ? { level, at, key: valid.key } : null
}
