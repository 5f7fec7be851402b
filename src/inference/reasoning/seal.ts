import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { parseJson } from '../../text/json.ts'
import type { ReasoningState } from './reasoning-state.ts'

/** A key that seals reasoning state. */
export interface SealKey {
  /** Names it in the seals that it made. */
  id: string
  /** 32 bytes. */
  secret: Buffer
}

/** Marks a text as sealed by Gazeway. The signatures of providers are base64, which has no full stop. */
const MARK = 'gws1.'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Largest state, in bytes: as much as an answer may have. */
const STATE_LIMIT_BYTES = 64 * 1024 * 1024

/** Matches the key ids of the seals in a JSON text. */
const SEALS = /"gws1\.([\w-]{1,32})\./g

/** Tells whether a value looks like a seal of Gazeway, true or forged. */
export const isSealed = (value: unknown): value is string => typeof value === 'string' && value.startsWith(MARK)

/** Tells whether a JSON text may contain seals. Reads it once, without parsing. */
export const mayHaveSeals = (text: string): boolean => text.includes(`"${MARK}`)

/** Beginning of a seal in base64. */
const MARK_IN_BASE64 = Buffer.from(MARK).toString('base64').slice(0, 6)

/** A seal for a field that must be base64: clients of Google's API may decode it and encode it again. */
export const toBase64 = (sealed: string): string => Buffer.from(sealed).toString('base64')

/** The seal in such a field, in either alphabet. Any other text is returned as it is. */
export const fromBase64 = (text: string): string =>
  text.startsWith(MARK_IN_BASE64) ? Buffer.from(text, 'base64').toString('latin1') : text

/** Ids of the keys that made the seals in a JSON text. */
export const keyIdsIn = (text: string): string[] => [
  ...new Set([...text.matchAll(SEALS)].map(([, id]) => id as string)),
]

/**
 * Seals a state with AES-256-GCM, compressed.
 *
 * @param bound caller, upstream and model: the seal opens for the same text alone
 */
export const seal = (key: SealKey, state: ReasoningState, bound: string): string =>
  sealBytes(key, deflateRawSync(JSON.stringify(state)), bound)

/**
 * Opens a seal.
 *
 * @param keyOf finds a key by its id
 * @returns null for one that is forged, truncated, bound to something else, or made with an unknown key
 */
export function openSeal(sealed: string, bound: string, keyOf: KeyOf): ReasoningState | null {
  const packed = openBytes(sealed, bound, keyOf)
  if (packed === null) return null
  try {
    const json = inflateRawSync(packed, { maxOutputLength: STATE_LIMIT_BYTES }).toString('utf8')
    return parseJson(json) as ReasoningState
  } catch {
    // Sealed, and no state.
    return null
  }
}

/** Seals a text as {@link seal}, but not compressed: a budget counts the bytes of a request as its most tokens. */
export const sealText = (key: SealKey, text: string, bound: string): string => sealBytes(key, Buffer.from(text), bound)

/** Opens a text as {@link openSeal}. */
export const openText = (sealed: string, bound: string, keyOf: KeyOf): string | null =>
  openBytes(sealed, bound, keyOf)?.toString() ?? null

type KeyOf = (id: string) => SealKey | undefined

function sealBytes({ id, secret }: SealKey, bytes: Buffer, bound: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', secret, nonce).setAAD(Buffer.from(bound))
  const body = [cipher.update(bytes), cipher.final(), cipher.getAuthTag()]
  return `${MARK}${id}.${Buffer.concat([nonce, ...body]).toString('base64url')}`
}

function openBytes(sealed: string, bound: string, keyOf: KeyOf): Buffer | null {
  const [, id = '', text = ''] = sealed.split('.')
  const bytes = Buffer.from(text, 'base64url')
  const key = keyOf(id)
  if (!isSealed(sealed) || key === undefined || bytes.length < NONCE_BYTES + TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', key.secret, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(bound))
    .setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    // The tag does not fit.
    return null
  }
}
