import type { Assessment } from '../gaze/attestation.ts'
import type { Gaze } from '../gaze/gaze.ts'
import type { ReviewRow } from '../store/tables/reviews-tables.ts'
import { gestureOf } from './gestures.ts'
import { readingOf, type Sighting } from './reading.ts'
import { recordsOfReview } from './records-of-review.ts'
import { changeOf, checksOf, type ReviewWithParts } from './review-record.ts'
import type { Level } from './statement.ts'

/** A reading, and what its level rests on. */
export interface ReadSoFar {
  reading: ReviewWithParts['reading']
  /** Assessment of the records about the change, and their sketch; null for none. */
  assessment: Assessment | null
  sketch: string | null
  /** Records that are about something else. */
  elsewhere: number
  /** Hash of the last record of the session, whatever it is about. */
  chainHead: string | null
  /** Records that were counted where there are more; null where all of them were. */
  counted: number | null
}

/**
 * Reads what a reviewer has seen of a change, from the records of its session.
 *
 * @param mostRecords records that are counted
 * @param acknowledged items that the reviewer says to have seen
 */
export async function readingSoFar(
  { gaze, mostRecords }: { gaze: Gaze; mostRecords: number },
  row: ReviewRow,
  acknowledged: readonly string[] = [],
): Promise<ReadSoFar> {
  const arrived = await gaze.arrived(row.session_id, mostRecords + 1)
  const records = arrived.slice(0, mostRecords)
  const counted = arrived.length > mostRecords ? mostRecords : null
  const { parts } = changeOf(row)
  const [canary = null] = checksOf(row).flatMap((check) => (check.kind === 'canary' ? [check.hunk] : []))
  const started = Date.parse(row.created_at)
  const gestures = records.flatMap(({ tensor }) => gestureOf(tensor) ?? [])
  const attention = gestures.length === 0 ? records : records.filter(({ tensor }) => gestureOf(tensor) === null)
  const evidence = { sightings: sightingsIn(attention), gestures, acknowledged: new Set(acknowledged) }
  const reading = await readingOf({ parts, canary }, evidence, started)
  const about = recordsOfReview(attention, parts, started)
  const { assessment = null, sketch = null } = (await gaze.assess(row, about)) ?? {}
  const hunks = reading.parts.filter((_, at) => parts[at]?.kind === 'hunk')
  const isUnread = hunks.length > 0 && hunks.every(({ seen }) => seen === 0)
  const level = levelOf({ activeMs: reading.active_ms, isUnread }, assessment)
  return {
    reading: { ...reading, level },
    assessment,
    sketch,
    elsewhere: attention.length - about.length,
    chainHead: (await gaze.session(row.session_id))?.attestation?.chain_head ?? null,
    counted,
  }
}

/** The records with a path and lines, with their times in Unix ms. */
function sightingsIn(records: Awaited<ReturnType<Gaze['arrived']>>): Sighting[] {
  return records.flatMap(({ tensor: { at, dwell_ms, env }, stored_at }) => {
    const { path, line_start, line_end = line_start } = env
    if (path === undefined || line_start === undefined || line_end === undefined) return []
    return [{ path, line_start, line_end, dwell_ms, at: Date.parse(at), received: Date.parse(stored_at) }]
  })
}

/**
 * Level of what was read. Records that pass say nothing of hunks of which no line was seen, whatever items
 * were acknowledged. A passkey raises the level
 * where the receipt is verified: nobody here knows which ones a policy enrolls.
 */
function levelOf(of: { activeMs: number; isUnread: boolean }, assessment: Assessment | null): Level {
  if (!of.isUnread && assessment?.level === 'plausible') return 'plausible'
  return of.activeMs > 0 ? 'seen' : 'none'
}
