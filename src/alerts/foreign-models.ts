import type { Store } from '../store/store.ts'
import { newId } from '../text/ids.ts'
import { dayOf } from '../wallet/budget/spending.ts'

/** An answer by a model that the list of its key lacks. */
export interface ForeignModel {
  callId: string
  callerId: string
  requested: string
  answered: string
}

/** Stands for a part of a budget in the outbox, where no budget is meant. */
const NO_PERCENT = 0

/** Records in the outbox that a model answered which the key may not use: once a day for each key. */
export async function noteForeignModel({ db }: Store, now: Date, of: ForeignModel): Promise<void> {
  const { callId, callerId, requested, answered } = of
  const at = now.toISOString()
  const key = await db.selectFrom('keys').select('name').where('id', '=', callerId).executeTakeFirst()
  const data = { id: callerId, kind: 'key', name: key?.name ?? null, call_id: callId, requested, answered }
  await db
    .insertInto('alert_messages')
    .values({
      id: newId('alert'),
      owner: callerId,
      per: 'day',
      period: dayOf(at),
      percent: NO_PERCENT,
      body: JSON.stringify({ type: 'model.not_allowed', timestamp: at, data }),
      created_at: at,
      next_at: at,
      attempts: 0,
      delivered_at: null,
      error: null,
    })
    // One a day.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
