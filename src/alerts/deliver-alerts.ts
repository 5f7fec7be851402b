import { sql } from 'kysely'
import { lazily } from '../lazily.ts'
import type { Store } from '../store/store.ts'
import type { AlertMessageRow } from '../store/tables/alerts-tables.ts'
import type { WebhookAddress } from './webhook.ts'

const loadWebhook = lazily(() => import('./webhook.ts'))

/** Messages sent in parallel, so that slow receivers do not block the others. */
const AT_ONCE = 20
/** Lease of a message: longer than an attempt. After a crash another process takes it over. */
const LEASE_MS = 60_000
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]
/** Pause after each failed attempt, in milliseconds: three days in total. */
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
 * Sends due messages, at most {@link AT_ONCE}; the rest stays due. A message is delivered when the receiver answers
 * with 2xx. If that cannot be recorded, as after a crash, the message is sent again with the same id.
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

/**
 * Leases a message for an attempt.
 *
 * @returns undefined when another process has leased it
 */
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
