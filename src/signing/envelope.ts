import * as z from 'zod'

/** The payload type of in-toto statements. */
export const PAYLOAD_TYPE = 'application/vnd.in-toto+json'

const Base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/)

/** A DSSE envelope with a statement (github.com/secure-systems-lab/dsse, version 1). */
export const Envelope = z.object({
  payloadType: z.literal(PAYLOAD_TYPE),
  payload: Base64.describe('the statement, base64'),
  signatures: z
    .array(z.object({ keyid: z.string().optional(), sig: Base64 }))
    .max(1)
    .describe('one plain Ed25519 or ECDSA signature, or none where an SSH signature or a passkey stands beside'),
})
export type Envelope = z.infer<typeof Envelope>

/** Returns the bytes that a signature of an envelope covers: the pre-authentication encoding of DSSE. */
export function signedBytes(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload])
}

/** Decodes the payload of an envelope. */
export const payloadOf = ({ payload }: Envelope): Buffer => Buffer.from(payload, 'base64')
