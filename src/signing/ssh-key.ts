import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'
import { GazewayError } from '../errors.ts'
import { readSsh, type SshReader, sshString } from './ssh-wire.ts'

/** A public key in the form of OpenSSH. */
export interface SshKey {
  type: string
  /** The key in the SSH wire format: what the base64 of a line `ssh-ed25519 AAAA…` holds. */
  blob: Buffer
  key: KeyObject
  /** `SHA256:…`, as `ssh-keygen -l` prints it. */
  fingerprint: string
}

interface KeyType {
  /** Digest of what is signed; null where the algorithm has its own. */
  hash: 'sha256' | 'sha384' | 'sha512' | null
  jwk: (reader: SshReader) => JsonWebKey
}

const ecdsa = (curve: string, hash: 'sha256' | 'sha384' | 'sha512'): KeyType => ({
  hash,
  jwk: (reader) => {
    reader.string()
    const point = reader.string()
    const size = (point.length - 1) / 2
    const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)]
    return { kty: 'EC', crv: curve, x: x.toString('base64url'), y: y.toString('base64url') }
  },
})

/** Types of keys whose plain signatures standard verifiers read. */
const SIGNING: Readonly<Record<string, KeyType>> = {
  'ssh-ed25519': {
    hash: null,
    jwk: (reader) => ({ kty: 'OKP', crv: 'Ed25519', x: reader.string().toString('base64url') }),
  },
  'ecdsa-sha2-nistp256': ecdsa('P-256', 'sha256'),
  'ecdsa-sha2-nistp384': ecdsa('P-384', 'sha384'),
  'ecdsa-sha2-nistp521': ecdsa('P-521', 'sha512'),
}

const RSA: KeyType = {
  hash: 'sha512',
  jwk: (reader) => {
    const [e, n] = [reader.string(), reader.string()]
    return { kty: 'RSA', e: e.toString('base64url'), n: n.toString('base64url') }
  },
}

const TYPES: Readonly<Record<string, KeyType>> = { ...SIGNING, 'ssh-rsa': RSA }

/** Types of keys that sign receipts. */
export const SIGNING_TYPES = Object.keys(SIGNING)

/**
 * Reads a public key from the SSH wire format.
 *
 * @throws GazewayError `validation_failed` for a type that is not known, or a damaged key
 */
export function sshKey(blob: Buffer): SshKey {
  const reader = readSsh(blob)
  const type = reader.text()
  const known = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined
  if (known === undefined) throw unreadable(`Keys of the type ${JSON.stringify(type.slice(0, 40))} are not read`)
  const fingerprint = `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`
  try {
    return { type, blob, key: createPublicKey({ key: known.jwk(reader), format: 'jwk' }), fingerprint }
  } catch {
    throw unreadable('The key is damaged')
  }
}

/** Writes a public key as OpenSSH does: `ssh-ed25519 AAAA…`. */
export const sshLine = ({ type, blob }: SshKey): string => `${type} ${blob.toString('base64')}`

/** Converts an Ed25519 or ECDSA public key. @throws GazewayError `validation_failed` for another type */
export function sshKeyOf(key: KeyObject): SshKey {
  const { kty, crv, x = '', y = '' } = key.export({ format: 'jwk' })
  if (kty === 'OKP' && crv === 'Ed25519')
    return sshKey(Buffer.concat([sshString('ssh-ed25519'), sshString(Buffer.from(x, 'base64url'))]))
  const curve = CURVES[crv ?? '']
  if (kty !== 'EC' || curve === undefined) throw unreadable(`Use a key of ${SIGNING_TYPES.join(', ')}; this one is`)
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  return sshKey(Buffer.concat([sshString(`ecdsa-sha2-${curve}`), sshString(curve), sshString(point)]))
}

const CURVES: Readonly<Record<string, string>> = { 'P-256': 'nistp256', 'P-384': 'nistp384', 'P-521': 'nistp521' }

/** Checks a plain signature: 64 bytes of Ed25519, or ECDSA in DER. False for other types of keys. */
export function isSignedBy({ type, key }: SshKey, data: Buffer, signature: Buffer): boolean {
  const known = Object.hasOwn(SIGNING, type) ? SIGNING[type] : undefined
  return known !== undefined && isValid(known.hash, data, key, signature)
}

/** Checks a signature in the SSH wire format: its type, then its bytes (RFC 4253, 5656, 8332, 8709). */
export function isSshSignedBy({ type, key }: SshKey, data: Buffer, signature: Buffer): boolean {
  const reader = readSsh(signature)
  const [signatureType, bytes] = [reader.text(), reader.string()]
  if (type === 'ssh-rsa') {
    const hash = RSA_SIGNATURES[signatureType]
    return hash !== undefined && isValid(hash, data, key, bytes)
  }
  return signatureType === type && isValid(TYPES[type]?.hash ?? null, data, key, plainSignature(type, bytes))
}

const RSA_SIGNATURES: Readonly<Record<string, string>> = { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' }

/** Converts the bytes of an SSH signature to those that standard verifiers read: ECDSA has two numbers, DER a sequence. */
export function plainSignature(type: string, bytes: Buffer): Buffer {
  if (!type.startsWith('ecdsa-')) return bytes
  const reader = readSsh(bytes)
  // Numbers have the same bytes in both forms: big-endian, signed, as short as possible.
  const numbers = [reader.string(), reader.string()].map((number) => der(0x02, number))
  return der(0x30, Buffer.concat(numbers))
}

const der = (tag: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from(content.length > 127 ? [tag, 0x81, content.length] : [tag, content.length]), content])

function isValid(hash: string | null, data: Buffer, key: KeyObject, signature: Buffer): boolean {
  try {
    return verify(hash, data, key, signature)
  } catch {
    return false
  }
}

/** Name of the digest that a key of a type signs; null for Ed25519. */
export const hashOf = (type: string): string | null => TYPES[type]?.hash ?? null

const unreadable = (what: string) =>
  new GazewayError('validation_failed', `${what}. Known are ${Object.keys(TYPES).join(', ')}.`)
