import type { Store } from '../store/store.ts'
import { newId } from '../text/ids.ts'
import { dayOf } from '../wallet/budget/spending.ts'

/**
 * Kinds of messages that a caller has once a day. Each has a number in the outbox, where that of an alert is a part of a
 * budget in percent.
 */
const NUMBERS = {
  'model.not_allowed': 0,
  'cost.absorbed': -1,
  'cost.absorbed_limit': -2,
  'session.repeats': -3,
} as const

/** Kind of a message about a caller. */
export type DailyMessage = keyof typeof NUMBERS

/** Records a message about a caller in the outbox: the first one of its kind on each UTC day. */
export async function noteDaily(
  { db }: Store,
  now: Date,
  { type, callerId, data }: { type: DailyMessage; callerId: string; data: object },
): Promise<void> {
  const at = now.toISOString()
  const key = await db.selectFrom('keys').select('name').where('id', '=', callerId).executeTakeFirst()
  const of = { id: callerId, kind: key === undefined ? 'wallet' : 'key', name: key?.name ?? null }
  await db
    .insertInto('alert_messages')
    .values({
      id: newId('alert'),
      owner: callerId,
      per: 'day',
      period: dayOf(at),
      percent: NUMBERS[type],
      body: JSON.stringify({ type, timestamp: at, data: { ...of, ...data } }),
      created_at: at,
      next_at: at,
      attempts: 0,
      delivered_at: null,
      error: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
