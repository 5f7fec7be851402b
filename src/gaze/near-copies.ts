import type { Kysely } from 'kysely'
import type { Schema } from '../store/schema.ts'
import { rounded } from './statistics.ts'
import { likeness } from './trace-sketch.ts'

/** Streams of a key that a new one is compared with: its newest. */
const COMPARED_STREAMS = 1000

/**
 * Likeness from which a stream is a near copy. The bench measures what it lets through and what it refuses: `npm run bench --
 * attention`.
 */
export const NEAR_COPY = 0.85

/** Finds the greatest likeness of a stream to the newest other ones of its key, 0 to 1. */
export async function greatestLikeness(
  db: Kysely<Schema>,
  stream: { session_id: string; caller_id: string | null },
  sketch: string,
): Promise<number> {
  const { session_id, caller_id } = stream
  const others = await db
    .selectFrom('gaze_sessions')
    .select('sketch')
    .where('caller_id', caller_id === null ? 'is' : '=', caller_id)
    .where('session_id', '<>', session_id)
    .where('sketch', 'is not', null)
    .orderBy('updated_at', 'desc')
    .limit(COMPARED_STREAMS)
    .execute()
  return rounded(Math.max(0, ...others.map((other) => likeness(sketch, other.sketch as string))), 4)
}
