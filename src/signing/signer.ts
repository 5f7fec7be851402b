import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject, sign } from 'node:crypto'
import { GazewayError } from '../errors.ts'
import { hashOf, type SshKey, sshKeyOf } from './ssh-key.ts'
import { readSsh } from './ssh-wire.ts'

/** A key that signs, wherever it is. */
export interface Signer {
  key: SshKey
  /** Signs plainly: 64 bytes of Ed25519, or ECDSA in DER, as standard verifiers read it. */
  sign(data: Buffer): Promise<Buffer>
}

const OPENSSH = /-----BEGIN OPENSSH PRIVATE KEY-----\s([A-Za-z0-9+/=\s]+)-----END/
const MAGIC = 'openssh-key-v1\0'

/**
 * Creates a signer from the text of a key file: that of `ssh-keygen`, or PEM.
 *
 * @throws GazewayError `validation_failed` for one with a passphrase, or that is no Ed25519 or ECDSA key
 */
export function fileSigner(text: string): Signer {
  const [, base64] = OPENSSH.exec(text) ?? []
  return keySigner(base64 === undefined ? pemKey(text) : opensshKey(Buffer.from(base64, 'base64')))
}

/** Creates a signer from a private key. @throws GazewayError `validation_failed` for another type than Ed25519 or ECDSA */
export function keySigner(privateKey: KeyObject): Signer {
  const key = sshKeyOf(createPublicKey(privateKey))
  return { key, sign: async (data) => sign(hashOf(key.type), data, privateKey) }
}

function pemKey(text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch {
    throw unreadable('The key is not read: it has a passphrase, or is damaged')
  }
}

/** Reads the private key of a file (PROTOCOL.key of OpenSSH). */
function opensshKey(bytes: Buffer): KeyObject {
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) throw unreadable('The key is damaged')
  const file = readSsh(bytes.subarray(MAGIC.length))
  const cipher = file.text()
  if (cipher !== 'none') throw unreadable('The key has a passphrase')
  file.string()
  file.string()
  file.uint32()
  file.string()
  const secret = readSsh(file.string())
  secret.uint32()
  secret.uint32()
  const type = secret.text()
  if (type === 'ssh-ed25519') {
    const [publicKey, seed] = [secret.string(), secret.string().subarray(0, 32)]
    return privateKey({ kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url'), d: seed.toString('base64url') })
  }
  if (!type.startsWith('ecdsa-')) throw unreadable(`A key of the type ${type.slice(0, 40)} does not sign receipts`)
  const curve = secret.text().replace('nistp', 'P-')
  const point = secret.string()
  const size = (point.length - 1) / 2
  const number = secret.string()
  // The number has a leading zero byte, or lacks some.
  const d = Buffer.concat([Buffer.alloc(size), number])
    .subarray(-size)
    .toString('base64url')
  const [x, y] = [point.subarray(1, 1 + size).toString('base64url'), point.subarray(1 + size).toString('base64url')]
  return privateKey({ kty: 'EC', crv: curve, x, y, d })
}

const privateKey = (jwk: JsonWebKey): KeyObject => createPrivateKey({ key: jwk, format: 'jwk' })

const unreadable = (what: string) =>
  new GazewayError('validation_failed', `${what}. Add it to ssh-agent, or use an Ed25519 or ECDSA key without one.`)
