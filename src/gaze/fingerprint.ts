import { hash } from 'node:crypto'
import type { GazeRecord, GazeTensor } from './tensor.ts'

/** The hash before a session's first record. */
export const CHAIN_START = '0'.repeat(64)
/** Neighbouring records per shape. With coarse measurements, shorter shapes match by chance. */
export const SHAPE_RECORDS = 4
/** Hexadecimal digits of a content or shape hash: 52 bits, exact in a number. Fewer than five chance matches have no effect. */
const PRINT_DIGITS = 13

/** Serialises a value as JSON with sorted keys and no spaces: equal values give equal text (the idea of RFC 8785). */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const fields = value as Record<string, unknown>
  let text = ''
  for (const key of Object.keys(fields).sort()) {
    if (fields[key] === undefined) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(fields[key])}`
  }
  return `{${text}}`
}

/** Fields that the store adds to a tensor, except its hash. */
type RecordIdentity = Pick<GazeRecord, 'id' | 'session_id' | 'task_id' | 'seq'>

/**
 * Computes the hash of a record in its session's chain. Changing, removing or inserting a record changes every later
 * hash.
 *
 * SHA-256 in hexadecimal over the concatenation of:
 * - the hash of the record before it (`CHAIN_START` for the first)
 * - the canonical JSON of `{id, seq, session_id, task_id}`
 * - the canonical JSON of the tensor
 *
 * @param tensor canonical JSON, from `canonicalJson`
 */
export function chainHash(previous: string, { id, session_id, task_id, seq }: RecordIdentity, tensor: string): string {
  return sha256(previous + canonicalJson({ id, session_id, task_id, seq }) + tensor)
}

/**
 * Verifies that `records` are an unbroken part of one session's chain.
 *
 * @param records in order of `seq`
 * @param previous hash of the record before the first of them
 */
export function verifyChain(records: readonly GazeRecord[], previous: string = CHAIN_START): boolean {
  let head = previous
  return records.every(({ hash, id, session_id, task_id, seq, ...tensor }) => {
    head = chainHash(head, { id, session_id, task_id, seq }, canonicalJson(tensor))
    return head === hash
  })
}

/**
 * Computes a 52-bit hash over a tensor, its time included. Equal for the same measurement in two sessions.
 *
 * @param tensor canonical JSON, from `canonicalJson`
 */
export function contentHash(tensor: string): number {
  return printOf(tensor)
}

/** The first 52 bits of the SHA-256 of a text, as a number: 0 to 2^52 − 1. */
export const printOf = (text: string): number => Number.parseInt(sha256(text).slice(0, PRINT_DIGITS), 16)

/**
 * Derives the id of a record in the form of a UUIDv7 (RFC 9562 section 5.7), so that it needs no room in the store: its
 * time is that of the arrival, the rest a hash of the record and its place.
 *
 * @param tensor canonical JSON, from `canonicalJson`
 */
export function recordId(
  { session_id, seq, stored_at }: { session_id: string; seq: number; stored_at: string },
  tensor: string,
): string {
  const time = Date.parse(stored_at).toString(16).padStart(12, '0')
  const hash = sha256(`${canonicalJson({ seq, session_id })}${tensor}`)
  return `gaze_${time}7${hash.slice(0, 3)}8${hash.slice(3, 18)}`
}

/** One step of a shape: start of a record in Unix ms, and its dwell, channels and position as JSON. */
export interface ShapeStep {
  ms: number
  measured: string
}

/** A tensor as a step of shapes. */
export const shapeStep = ({ at, source, dwell_ms, cog, emo, env }: GazeTensor): ShapeStep => ({
  ms: Date.parse(at),
  measured: JSON.stringify([
    source,
    dwell_ms,
    cog?.focus ?? null,
    cog?.load ?? null,
    emo?.valence ?? null,
    emo?.arousal ?? null,
    env.x ?? null,
    env.y ?? null,
  ]),
})

/**
 * Computes a 52-bit hash of each step together with the `SHAPE_RECORDS` − 1 steps before it (shingles, as in Broder
 * 1997). The hash covers dwell, channels, position and relative time. The same sequence at another time has the same
 * hashes.
 *
 * @param steps in order of time
 * @returns one hash per step; null for the first `SHAPE_RECORDS` − 1
 */
export function shapeHashes(steps: readonly ShapeStep[]): Array<number | null> {
  return steps.map((_, last) => {
    const first = last - SHAPE_RECORDS + 1
    if (first < 0) return null
    const shape = steps.slice(first, last + 1)
    const start = shape[0]?.ms ?? 0
    return printOf(`${shape.map(({ measured }) => measured)}${shape.map(({ ms }) => ms - start)}`)
  })
}

function sha256(text: string): string {
  return hash('sha256', text)
}
