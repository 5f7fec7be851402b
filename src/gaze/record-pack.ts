import { packRows, unpackRows } from '../store/packed-rows.ts'
import { withoutNul } from '../store/storable-text.ts'
import {
  canonicalJson,
  chainHash,
  recordId,
  SHAPE_RECORDS,
  type ShapeStep,
  shapeHashes,
  shapeStep,
} from './fingerprint.ts'
import { tickOf } from './raw-samples.ts'
import type { GazeRecord, GazeTensor } from './tensor.ts'

/** Most records of one pack, and the longest time between the starts of two of them in ms. */
export const PACK_RECORDS = 512
export const PACK_SPAN_MS = 3_600_000
/** Records at the start of a pack whose shapes begin in the pack before. */
const LEAD = SHAPE_RECORDS - 1

/** A record in a pack. */
export interface PackedRecord {
  seq: number
  tensor: GazeTensor
  /** Time of arrival, RFC 3339 UTC. */
  stored_at: string
  /** Another raw sample of its tick counts in its place. */
  isBeside: boolean
  /** Another session stored its content, shape or trace before. */
  isCopied: boolean
  /** Id of a record from before there were packs; others have the one of `recordId`. */
  id?: string
}

/** Neighbouring records of one session by `seq`, at least one, and the ends of their hash chain. */
export interface Pack {
  session_id: string
  task_id: string | null
  records: readonly PackedRecord[]
  /** Hash of the first record in the session's chain. */
  anchor: string
  /** Hash of the last one. */
  head: string
  /** Shapes of the first records, from `shapeHashes`. */
  lead: ReadonlyArray<number | null>
}

type Ends = Pick<Pack, 'anchor' | 'head' | 'lead'>

/** Row of a record in the body of a pack. Times are Unix ms. */
interface PackedRow extends Omit<GazeTensor, 'at'> {
  at: number
  seq: number
  stored: number
  id?: string
  beside?: 1
  copied?: 1
}

/**
 * Packs records into the bytes of a row. Their hashes are not part of it: `recordsOf` computes them again from the ends, which
 * takes less room and shows a change as well.
 */
export function packBody({ records, anchor, head, lead }: Pack): Buffer {
  const rows = records.map(({ tensor: { at, ...tensor }, seq, stored_at, isBeside, isCopied, id }) => ({
    ...tensor,
    at: Date.parse(at),
    seq,
    stored: Date.parse(stored_at),
    ...(id !== undefined && { id }),
    ...(isBeside && { beside: 1 }),
    ...(isCopied && { copied: 1 }),
  }))
  return packRows({ anchor, head, lead } satisfies Ends, rows)
}

/** Bytes of a pack that were damaged in the store. */
export class DamagedPack extends Error {}

/**
 * Unpacks the records of a row.
 *
 * @throws DamagedPack for bytes that hold no records
 */
export function unpackBody(body: Uint8Array, of: Pick<Pack, 'session_id' | 'task_id'>): Pack {
  try {
    return unpacked(body, of)
  } catch (cause) {
    throw new DamagedPack(`A pack of gaze records of the session ${of.session_id} is damaged.`, { cause })
  }
}

function unpacked(body: Uint8Array, of: Pick<Pack, 'session_id' | 'task_id'>): Pack {
  const { about, rows } = unpackRows<Ends, PackedRow>(body)
  const records = rows.map(({ at, seq, stored, id, beside, copied, ...tensor }) => ({
    seq,
    tensor: { ...tensor, at: new Date(at).toISOString() },
    stored_at: new Date(stored).toISOString(),
    isBeside: beside === 1,
    isCopied: copied === 1,
    ...(id !== undefined && { id }),
  }))
  return { ...of, ...about, records }
}

/** Computes the records with their ids and their hashes. Those between the ends follow from the records before them. */
export function recordsOf({ session_id, task_id, records, anchor, head }: Pack): GazeRecord[] {
  let hash = ''
  return records.map(({ tensor, seq, stored_at, id: kept }, i) => {
    const json = canonicalJson(tensor)
    const id = kept ?? recordId({ session_id, seq, stored_at }, json)
    const own = { id, session_id, task_id, seq }
    hash = i === 0 ? anchor : chainHash(hash, own, json)
    return { ...tensor, ...own, hash: i === records.length - 1 ? head : hash }
  })
}

/**
 * Verifies that the records of a pack lead from its first hash to its last one, and on from the pack before.
 *
 * @param before hash of the record before the first one; null when that record is gone
 */
export function isUnbroken(pack: Pack, before: string | null): boolean {
  const whole = recordsOf(pack)
  return whole.every((record, i) => {
    const previous = i === 0 ? before : (whole[i - 1]?.hash ?? null)
    if (previous === null) return true
    const { hash, id, session_id, task_id, seq, ...tensor } = record
    return chainHash(previous, { id, session_id, task_id, seq }, canonicalJson(tensor)) === hash
  })
}

/** Path of a record as the index has it, where some characters are replaced; '' for none. */
export const indexedPath = ({ env }: Pick<GazeTensor, 'env'>): string => withoutNul(env.path ?? '')

/** The tick of a record, or null for a raw sample beside another one. */
export const countedTick = ({ tensor, isBeside }: PackedRecord): number | null => (isBeside ? null : tickOf(tensor))

/** Steps of the newest records before the next ones, for their shapes. */
export const lastStepsOf = (records: readonly PackedRecord[]): ShapeStep[] =>
  records.slice(-LEAD).map(({ tensor }) => shapeStep(tensor))

/** Shapes of the records at the start of a new pack. */
export const leadOf = (shapes: ReadonlyArray<number | null>): Array<number | null> => shapes.slice(0, LEAD)

/** Computes the shapes of a pack's records again. */
export function shapesOf({ records, lead }: Pack): Array<number | null> {
  const shapes = shapeHashes(records.map(({ tensor }) => shapeStep(tensor)))
  return shapes.map((shape, i) => (i < LEAD ? (lead[i] ?? null) : shape))
}

/** Earliest and latest start among records, RFC 3339 UTC. */
export function rangeOf(records: ReadonlyArray<Pick<PackedRecord, 'tensor'>>): { from_at: string; to_at: string } {
  let [from_at, to_at] = [records[0]?.tensor.at ?? '', '']
  for (const { tensor } of records) {
    if (tensor.at < from_at) from_at = tensor.at
    if (tensor.at > to_at) to_at = tensor.at
  }
  return { from_at, to_at }
}
