import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import type { Assertion } from '../../src/signing/webauthn.ts'

/** Differences from what a browser and an authenticator at `http://localhost:8812` answer. */
interface PasskeyOptions {
  algorithm?: 'ES256' | 'EdDSA' | 'RS256'
  /** Flags of the authenticator data: 0x01 user present, 0x04 user verified. */
  flags?: number
  origin?: string
  rpId?: string
  /** Message that is signed instead of the given one. */
  message?: Buffer
  type?: string
  /** Other fields of the client's data. */
  client?: object
  /** Signs with a key that was never enrolled. */
  otherKey?: boolean
}

/** A passkey as software: what a policy enrolls, and its answer over a message. */
export function passkeyOf(options: PasskeyOptions) {
  const { algorithm = 'ES256', flags = 0x05, origin = 'http://localhost:8812', rpId = 'localhost' } = options
  const { publicKey, privateKey } = keyPair(algorithm)
  const enrolled = {
    credential_id: 'Y3JlZGVudGlhbA',
    public_key: publicKey.export({ format: 'der', type: 'spki' }).toString('base64url'),
    rp_id: 'localhost',
    origins: ['http://localhost:8812'],
  }

  function answer(message: Buffer): Assertion {
    const challenge = sha256(options.message ?? message).toString('base64url')
    const type = options.type ?? 'webauthn.get'
    const client = Buffer.from(JSON.stringify({ type, challenge, origin, other: 1, ...options.client }))
    const authenticator = Buffer.concat([sha256(Buffer.from(rpId)), Buffer.from([flags, 0, 0, 0, 7])])
    const key = options.otherKey ? keyPair(algorithm).privateKey : privateKey
    const signed = Buffer.concat([authenticator, sha256(client)])
    return {
      credential_id: enrolled.credential_id,
      authenticator_data: authenticator.toString('base64url'),
      client_data_json: client.toString('base64url'),
      signature: sign(algorithm === 'EdDSA' ? null : 'sha256', signed, key).toString('base64url'),
    }
  }

  return { enrolled, answer }
}

function keyPair(algorithm: 'ES256' | 'EdDSA' | 'RS256') {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return algorithm === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('rsa', { modulusLength: 2048 })
}

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()
