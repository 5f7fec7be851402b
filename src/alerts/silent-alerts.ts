import type { Config } from '../config/config-schema.ts'
import type { Store } from '../store/store.ts'

const NO_WEBHOOK = 'set both alerts.webhook_url and alerts.webhook_secret.'

/** Tells whether alerts can be sent: the webhook has an address and a secret. */
const hasWebhook = ({ webhook_url, webhook_secret }: Config['alerts']): boolean =>
  webhook_url !== null && webhook_secret !== null

/**
 * Warns about alerts of a key or group that are never sent: without a webhook, and without a budget that could be spent.
 *
 * @param of.budgets own budgets of the key or group; null for none
 */
export function alertWarnings(
  of: { alerts: readonly unknown[]; budgets: readonly unknown[] | null | undefined },
  webhook: Config['alerts'],
): string[] {
  if (of.alerts.length === 0) return []
  return [
    ...(hasWebhook(webhook) ? [] : [`alerts: none is sent; ${NO_WEBHOOK}`]),
    ...(of.budgets?.length ? [] : ['alerts: none is sent without a budget; set one beside them.']),
  ]
}

/**
 * Finds the keys in use and groups whose alerts are not sent for lack of a webhook.
 *
 * @returns a sentence that says what to do; null when there are none
 */
export async function silentAlerts({ db }: Pick<Store, 'db'>, webhook: Config['alerts']): Promise<string | null> {
  if (hasWebhook(webhook)) return null
  const alerted = db.selectFrom('alerts').select('owner')
  const [keys, groups] = await Promise.all([
    db.selectFrom('keys').select('name').where('id', 'in', alerted).where('revoked_at', 'is', null).execute(),
    db.selectFrom('key_groups').select('name').where('id', 'in', alerted).execute(),
  ])
  const owners = keys.length + groups.length
  if (owners === 0) return null
  const [first] = [...keys, ...groups]
  const named = owners === 1 ? `${first?.name} has alerts` : `${first?.name} and ${owners - 1} more have alerts`
  return `${named} that are not sent: ${NO_WEBHOOK}`
}
