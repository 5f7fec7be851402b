import { hash, randomBytes } from 'node:crypto'
import { newId } from '../text/ids.ts'

/** Random bytes of a token, as many as a SHA-256 has, so that neither can be guessed. */
const SECRET_BYTES = 32
const TOKEN = /^gzw_([0-9a-f]{32})_[\w-]{43}$/

/**
 * Creates the id and the token of a new key. The token is shown once: `gzw_`, the id's digits, `_`, the secret in
 * base64url.
 */
export function newToken(): { id: string; token: string } {
  const id = newId('key')
  return { id, token: tokenFor(id) }
}

/** Creates another token of a key, with a new secret. */
export function tokenFor(id: string): string {
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  return `${id.replace('key_', 'gzw_')}_${secret}`
}

/** Reads the id from a token; null for other text. Proves nothing. */
export function keyIdOf(token: string): string | null {
  const digits = TOKEN.exec(token)?.[1]
  return digits === undefined ? null : `key_${digits}`
}

/** Hashes a token to 32 bytes. A plain SHA-256 is enough, because 256 random bits cannot be found with a dictionary. */
export function hashToken(token: string): Buffer {
  // `hash` with a string result is faster than one with a Buffer.
  return Buffer.from(hash('sha256', token, 'binary'), 'binary')
}
