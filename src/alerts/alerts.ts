import type { Base } from '../base.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { type Micros, toMicros } from '../text/money.ts'
import { PERIOD_NAMES, periodOf } from '../text/period.ts'
import type { AbsorbedCall } from '../wallet/budget/absorbed-costs.ts'
import { dayOf } from '../wallet/budget/spending.ts'
import { noteAbsorbed } from './absorbed-cost-alert.ts'
import { deliverAlerts } from './deliver-alerts.ts'
import { type ForeignModel, noteForeignModel } from './foreign-model-alert.ts'
import { noticeAlerts } from './raise-budget-alerts.ts'
import { noteRepeated, type RepeatedRequest } from './repeated-request-alert.ts'
import type { WebhookAddress } from './webhook.ts'

/** Interval of comparing spending with alerts, and of sending due messages, in milliseconds. */
export const ALERTS_MS = 15_000
const FORGET_MS = 3_600_000
/** Shortest retention of a message. */
const KEPT_MS = 40 * 86_400_000

/**
 * Delivers an alert to the webhook once a share of a budget is spent, a model answers that a key may not use, or the
 * operator bears a part of a caller's calls, or a session runs in a loop.
 */
export interface Alerts {
  /** Logs an answer by a model that the list of its key lacks, and has an alert sent. */
  onForeignModel(of: ForeignModel): void
  /** Has an alert sent that the operator bears a part of a call. */
  onAbsorbed(of: AbsorbedCall): void
  /** Logs that a session seems to run in a loop, and has an alert sent. */
  onRepeated(of: RepeatedRequest): void
  /** Compares spending with alerts and sends due messages; for `startSweeps` with {@link ALERTS_MS}. */
  sending: readonly Sweep[]
  /** Deletes old messages; for `startSweeps`. */
  sweeps: readonly Sweep[]
}

/** Dependencies of alerts. */
export interface AlertsDeps {
  store: Store
  now: () => Date
  /** Current webhook. Null for none. */
  webhook: () => WebhookAddress | null
  /** Most that the operator bears for a caller a day. */
  mostAbsorbed: () => Micros
  /** Called for each answer by a model that the list of its key lacks. */
  onForeign: (of: ForeignModel) => void
  /** Called for each session that seems to run in a loop. */
  onLoop: (of: RepeatedRequest) => void
  /** Called when such an alert could not be recorded. */
  onError: (error: unknown) => void
  /** Called for a message that is not retried any more. */
  onGivenUp: (message: { id: string; owner: string; error: string }) => void
}

/**
 * Creates the alerts of the keys and groups in `store`. Paid calls do not check alerts: spending is compared every
 * {@link ALERTS_MS}, and each threshold passed is recorded in the outbox once per budget, period and threshold.
 */
export function createAlerts(deps: AlertsDeps): Alerts {
  const { store, now, webhook, mostAbsorbed, onGivenUp, onForeign, onLoop, onError } = deps
  return {
    onForeignModel(of) {
      onForeign(of)
      if (webhook() !== null) noteForeignModel(store, now(), of).catch(onError)
    },
    onAbsorbed(of) {
      if (webhook() !== null) noteAbsorbed(store, now(), { ...of, most: mostAbsorbed() }).catch(onError)
    },
    onRepeated(of) {
      onLoop(of)
      if (webhook() !== null) noteRepeated(store, now(), of).catch(onError)
    },
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

/** Opens the room: alerts go to the webhook of the configuration in force. */
export function liveAlerts({ store, now, config, log }: Base): Alerts {
  return createAlerts({
    store,
    now,
    webhook() {
      const { webhook_url: url, webhook_secret: secret } = config.current().config.alerts
      return url === null || secret === null ? null : { url, secret }
    },
    mostAbsorbed: () => toMicros(config.current().config.wallet.absorbed_usd_per_day) as Micros,
    onForeign: ({ callId, callerId, requested, answered }) =>
      log.warn('A model answered that the key may not use.', {
        call_id: callId,
        caller_id: callerId,
        requested_model: requested,
        model: answered,
      }),
    onLoop: ({ callerId, sessionId, tool, times, minutes }) =>
      log.warn('A session asked the same too often; the next time is refused.', {
        ...{ caller_id: callerId, session_id: sessionId, tool, times, minutes },
      }),
    onError: (err) => log.error('Failed to record an alert.', { err }),
    onGivenUp: ({ id, owner, error }) =>
      log.error('Failed to deliver an alert; will not retry.', { alert_id: id, owner, reason: error }),
  })
}

/** Deletes old messages of past periods. Those of current periods stay, so that each is sent once per period. */
async function forgetAlerts({ db }: Store, now: Date, limit: number): Promise<number> {
  const before = new Date(now.getTime() - KEPT_MS).toISOString()
  const today = dayOf(now.toISOString())
  const old = db
    .selectFrom('alert_messages')
    .select('id')
    .where('created_at', '<', before)
    .where(({ eb, or, and }) =>
      or(PERIOD_NAMES.map((per) => and([eb('per', '=', per), eb('period', '<', periodOf(per, today).from)]))),
    )
    .orderBy('created_at')
    .limit(limit)
  const { numDeletedRows } = await db.deleteFrom('alert_messages').where('id', 'in', old).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Newest message whose last attempt failed, including one given up. Null when there is none. */
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
