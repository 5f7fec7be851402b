import { sql } from 'kysely'
import type { Store } from '../store/store.ts'
import type { AlertMessageRow } from '../store/tables/alerts-tables.ts'
import { lazily } from '../wire/lazily.ts'
import type { WebhookAddress } from './webhook.ts'

const loadWebhook = lazily(() => import('./webhook.ts'))

/** Messages that are sent at once: some that hang do not keep the others. */
const AT_ONCE = 20
/** How long a message is one process's: longer than an attempt takes. Of a process that died another one takes it over then. */
const LEASE_MS = 60_000
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]
/** The time to the next attempt after each that failed, in milliseconds: three days in all. */
export const BACKOFF_MS = [
  15 * SECOND,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  20 * HOUR,
] as const

interface DeliverDeps {
  store: Store
  now: () => Date
  address: WebhookAddress
  onGivenUp: (message: { id: string; owner: string; error: string }) => void
}

/**
 * Sends the messages that are due, at most {@link AT_ONCE}; the rest is due still. A message is delivered once the receiver
 * has answered with a 2xx: where that is not noted, as after a crash, it is sent again with the same id.
 */
export async function deliverAlerts(deps: DeliverDeps): Promise<void> {
  const { store, now } = deps
  const due = await store.db
    .selectFrom('alert_messages')
    .select(['id', 'next_at'])
    .where('next_at', '<=', now().toISOString())
    .orderBy('next_at')
    .limit(AT_ONCE)
    .execute()
  const claimed = await Promise.all(due.map((message) => claim(store, now(), message)))
  await Promise.all(claimed.map((message) => message && deliver(deps, message)))
}

/** Takes a message for an attempt. @returns undefined where another process has taken it */
function claim(
  { db }: Store,
  at: Date,
  { id, next_at }: Pick<AlertMessageRow, 'id' | 'next_at'>,
): Promise<AlertMessageRow | undefined> {
  return db
    .updateTable('alert_messages')
    .set({ next_at: after(at, LEASE_MS), attempts: sql`attempts + 1` })
    .where('id', '=', id)
    .where('next_at', '=', next_at)
    .returningAll()
    .executeTakeFirst()
}

async function deliver({ store, now, address, onGivenUp }: DeliverDeps, message: AlertMessageRow): Promise<void> {
  const { id, owner, body, attempts } = message
  const { postWebhook } = await loadWebhook()
  const error = await postWebhook(address, { id, body, at: now() })
  const at = now()
  const backoff = BACKOFF_MS[attempts - 1]
  const isOver = error === null || backoff === undefined
  await store.db
    .updateTable('alert_messages')
    .set({
      next_at: isOver ? null : after(at, backoff),
      delivered_at: error === null ? at.toISOString() : null,
      error,
    })
    .where('id', '=', id)
    .execute()
  if (error !== null && isOver) onGivenUp({ id, owner, error })
}

const after = (at: Date, ms: number): string => new Date(at.getTime() + ms).toISOString()
