import { hash, randomBytes } from 'node:crypto'
import { newId } from '../text/ids.ts'

/** Random bytes in a token: as many as its SHA-256 has, so that guessing one is hopeless whatever the other's strength. */
const SECRET_BYTES = 32
const TOKEN = /^gzw_([0-9a-f]{32})_[\w-]{43}$/

/** A new key's id and its token, which is shown once: `gzw_`, the id's digits, `_`, the secret in base64url. */
export function newToken(): { id: string; token: string } {
  const id = newId('key')
  return { id, token: tokenFor(id) }
}

/** Another token for a key, with a new secret. */
export function tokenFor(id: string): string {
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  return `${id.replace('key_', 'gzw_')}_${secret}`
}

/** The id of the key that `token` claims to be, or null when it is not in the form of a token. Proves nothing. */
export function keyIdOf(token: string): string | null {
  const digits = TOKEN.exec(token)?.[1]
  return digits === undefined ? null : `key_${digits}`
}

/**
 * What is kept of a token, 32 bytes. A plain SHA-256 is enough for a secret of 256 random bits: there is no dictionary
 * to slow down.
 */
export function hashToken(token: string): Buffer {
  // As a Buffer of its own it would take twice as long.
  return Buffer.from(hash('sha256', token, 'binary'), 'binary')
}
