import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { deliverAlerts } from './deliver-alerts.ts'
import { noticeAlerts } from './notice-alerts.ts'
import type { WebhookAddress } from './webhook.ts'

/** How often spending is compared with alerts, and messages that are due are sent, in milliseconds. */
export const ALERTS_MS = 15_000
const FORGET_MS = 3_600_000
/** How long a message is kept at least: longer than the longest period, so that each is sent once in it. */
const KEPT_MS = 40 * 86_400_000

/** Alerts about budgets that are used up to a part. */
export interface Alerts {
  /** Compares spending with alerts, and sends what is due; for `startSweeps` that looks every {@link ALERTS_MS}. */
  sending: readonly Sweep[]
  /** What is cleared away, for `startSweeps`. */
  sweeps: readonly Sweep[]
}

/** What alerts are sent with. */
export interface AlertsDeps {
  store: Store
  now: () => Date
  /** Where they are sent now; null for nowhere. */
  webhook: () => WebhookAddress | null
  /** Told of a message that is not tried again. */
  onGivenUp: (message: { id: string; owner: string; error: string }) => void
}

/**
 * The alerts of the keys and groups in `store`. Nothing looks at alerts where calls are paid for: their spending is compared
 * every {@link ALERTS_MS}, and what passed a part is noted in the outbox, once for a budget, its period and the part.
 */
export function createAlerts({ store, now, webhook, onGivenUp }: AlertsDeps): Alerts {
  return {
    sending: [
      {
        name: 'alerts.notice',
        everyMs: ALERTS_MS,
        batch: async (limit) => (webhook() === null ? 0 : noticeAlerts(store, now(), limit)),
      },
      {
        name: 'alerts.deliver',
        everyMs: ALERTS_MS,
        async batch() {
          const address = webhook()
          if (address !== null) await deliverAlerts({ store, now, address, onGivenUp })
          return 0
        },
      },
    ],
    sweeps: [{ name: 'alerts.forget', everyMs: FORGET_MS, batch: (limit) => forgetAlerts(store, now(), limit) }],
  }
}

/** Deletes messages whose period is long over. A budget in total has one period, and its messages stay. */
async function forgetAlerts({ db }: Store, now: Date, limit: number): Promise<number> {
  const before = new Date(now.getTime() - KEPT_MS).toISOString()
  const old = db
    .selectFrom('alert_messages')
    .select('id')
    .where('created_at', '<', before)
    .where('per', '<>', 'total')
    .orderBy('created_at')
    .limit(limit)
  const { numDeletedRows } = await db.deleteFrom('alert_messages').where('id', 'in', old).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** The newest message whose last attempt failed, also one that is given up; null where there is none. */
export async function undelivered({ db }: Store): Promise<{ id: string; error: string } | null> {
  const found = await db
    .selectFrom('alert_messages')
    .select(['id', 'error'])
    .where('error', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return found === undefined ? null : { id: found.id, error: found.error ?? '' }
}
