import { stat } from 'node:fs/promises'
import type { Store } from '../store/store.ts'
import { nullIfMissing } from '../text/missing-file.ts'
import { noteFacts } from './note-facts.ts'
import { readPending, removePending } from './pending-facts.ts'

/** Time after which facts of a session without calls are dropped, in milliseconds. */
const DROPPED_MS = 30 * 86_400_000

/**
 * Notes the facts that hooks have left in the data folder, for each key whose calls name their session: hooks without a
 * gateway do not know the key. Facts of a session without calls stay for a month.
 *
 * @returns how many files were taken
 */
export async function takePending(store: Store, dataDir: string, now: Date): Promise<number> {
  let taken = 0
  for (const { file, sessionId, facts } of await readPending(dataDir)) {
    const known = await store.db
      .selectFrom('coding_sessions')
      .select('caller_id')
      .where('session_id', '=', sessionId)
      .where('calls', '>', 0)
      .execute()
    const isOld = now.getTime() - ((await stat(file).catch(nullIfMissing))?.mtimeMs ?? 0) > DROPPED_MS
    if (known.length === 0 && !isOld) continue
    // The clock is the one of this machine: what the file says is believed, however long it waited.
    const then = facts.at === undefined ? now : new Date(facts.at)
    for (const { caller_id } of known) await noteFacts(store, { callerId: caller_id || null, sessionId }, facts, then)
    await removePending(file)
    taken++
  }
  return taken
}
