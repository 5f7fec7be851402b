import { createHash, createPublicKey, verify } from 'node:crypto'
import * as z from 'zod'
import { parseJson } from '../text/json.ts'

const Base64Url = z.string().regex(/^[A-Za-z0-9_-]+$/)

/** Answer of a passkey as it came: the client's data is never built again, because browsers write it differently. */
export const Assertion = z.object({
  credential_id: Base64Url,
  authenticator_data: Base64Url,
  client_data_json: Base64Url,
  signature: Base64Url,
})
export type Assertion = z.infer<typeof Assertion>

/** A passkey that a policy enrolls for a reviewer. */
export const Passkey = z.object({
  reviewer: z.string().describe('the reviewer whose passkey it is, as in the allowed signers'),
  credential_id: Base64Url,
  public_key: Base64Url.describe('the public key as SubjectPublicKeyInfo, base64url'),
  rp_id: z.string().describe('the domain that the passkey is for: `localhost`, or the host of the platform'),
  origins: z
    .array(z.string())
    .min(1)
    .describe('the origins that it is accepted from; `http://localhost` stands for each port of it'),
})
export type Passkey = z.infer<typeof Passkey>

const ClientData = z.object({
  type: z.literal('webauthn.get'),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
  topOrigin: z.unknown().optional(),
})

/** Origin that stands for each port of this machine. */
export const LOCALHOST = 'http://localhost'

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
/** Place of the flags, after the hash of the domain. */
const FLAGS_AT = 32

/**
 * Checks that a passkey signed this message with user verification (WebAuthn Level 2 section 7.2). The challenge is the
 * sha256 of the message.
 *
 * @returns null when it did; otherwise the reason why not
 */
export function passkeyFault(assertion: Assertion, passkey: Passkey, message: Buffer): string | null {
  const clientJson = Buffer.from(assertion.client_data_json, 'base64url')
  const authenticator = Buffer.from(assertion.authenticator_data, 'base64url')
  const client = ClientData.safeParse(parseJson(clientJson.toString()))
  if (!client.success) return 'the client data are not those of a passkey'
  if (client.data.challenge !== sha256(message).toString('base64url')) return 'the passkey signed something else'
  if (!isFrom(client.data.origin, passkey.origins)) return `the passkey was used at ${client.data.origin}`
  // Another site that frames the page decides what its reader sees.
  if (client.data.crossOrigin || client.data.topOrigin !== undefined)
    return 'the passkey was used in a frame of another site'
  if (!authenticator.subarray(0, FLAGS_AT).equals(sha256(passkey.rp_id))) return 'the passkey is for another domain'
  const flags = authenticator[FLAGS_AT] ?? 0
  if ((flags & USER_PRESENT) === 0 || (flags & USER_VERIFIED) === 0) return 'the passkey did not verify the user'
  const signed = Buffer.concat([authenticator, sha256(clientJson)])
  const signature = Buffer.from(assertion.signature, 'base64url')
  return isSigned(passkey.public_key, signed, signature) ? null : 'the passkey’s signature is not valid'
}

/** Tells whether an origin is accepted. `gazeway review` serves its page on a free port of the reviewer's machine. */
const isFrom = (origin: string, accepted: readonly string[]): boolean =>
  accepted.includes(origin) || (accepted.includes(LOCALHOST) && /^http:\/\/localhost:\d+$/.test(origin))

/** Checks a signature of ES256, RS256 or EdDSA. */
function isSigned(publicKey: string, data: Buffer, signature: Buffer): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64url'), format: 'der', type: 'spki' })
    return verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', data, key, signature)
  } catch {
    return false
  }
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest()
