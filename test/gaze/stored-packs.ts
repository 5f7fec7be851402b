import { type Pack, packBody, unpackBody } from '../../src/gaze/record-pack.ts'
import type { Store } from '../../src/store/store.ts'

/** Reads all packs of a store. */
export async function packsIn(store: Store): Promise<Array<Pack & { first_seq: number }>> {
  const rows = await store.db.selectFrom('gaze_packs').selectAll().orderBy('session_id').orderBy('first_seq').execute()
  return rows.map(({ body, session_id, first_seq }) => ({
    ...unpackBody(body, { session_id, task_id: null }),
    first_seq,
  }))
}

/** Changes what is stored of records, as one who can write to the database could. */
export async function forgePacks(store: Store, forge: (pack: Pack) => Pack, sessionId?: string): Promise<void> {
  for (const { first_seq, ...pack } of await packsIn(store)) {
    if (sessionId !== undefined && pack.session_id !== sessionId) continue
    await store.db
      .updateTable('gaze_packs')
      .set({ body: packBody(forge(pack)) })
      .where('session_id', '=', pack.session_id)
      .where('first_seq', '=', first_seq)
      .execute()
  }
}
