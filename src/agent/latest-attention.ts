import { GazewayError } from '../errors.ts'
import { latestPresent } from '../gaze/attestation.ts'
import type { Gaze } from '../gaze/gaze.ts'
import type { GazeRecord } from '../gaze/tensor.ts'

/** Newest records that describe the present attention. */
const RECORDS = 100
/**
 * Age up to which attention of another session counts as present, in milliseconds: its freshness is then above a half.
 */
const PRESENT_MS = 15 * 60_000

/** The user's latest places of attention and their attestation. */
export interface Attention {
  /** Newest first; empty without gaze data. */
  records: GazeRecord[]
  /** Current attestation score of the session of these records, 0 to 1; 0 without gaze data. */
  poaScore: number
}

/**
 * Finds the latest gaze for a conversation: the gaze session with the conversation's own id, or else the newest gaze of
 * the last 15 minutes.
 *
 * @param of.callerId the key that stored it
 */
export async function latestAttention(
  gaze: Gaze,
  { sessionId, callerId }: { sessionId: string; callerId: string },
  now: Date,
): Promise<Attention> {
  const to = latestPresent(now).toISOString()
  const own = await gaze.retrieve({ session_id: sessionId, to, limit: RECORDS }, callerId)
  const records = own.items.length > 0 ? own.items : await present(gaze, callerId, now)
  const gazeSession = records[0]?.session_id
  if (gazeSession === undefined) return { records, poaScore: 0 }
  return { records, poaScore: await scoreOf(gaze, gazeSession) }
}

async function present(gaze: Gaze, callerId: string, now: Date): Promise<GazeRecord[]> {
  const from = new Date(now.getTime() - PRESENT_MS).toISOString()
  const { items } = await gaze.retrieve({ from, to: now.toISOString(), limit: RECORDS }, callerId)
  return items.filter((record) => record.session_id === items[0]?.session_id)
}

async function scoreOf(gaze: Gaze, sessionId: string): Promise<number> {
  try {
    return (await gaze.attestation(sessionId)).poa_score
  } catch (error) {
    // Its session may have been deleted since the records were read.
    if (error instanceof GazewayError && error.code === 'not_found') return 0
    throw error
  }
}
