import type { Base } from '../base.ts'
import { lazily } from '../lazily.ts'
import type { Sweep } from '../store/sweeps.ts'

/** Interval at which bills are kept that a provider forgets, in milliseconds: a few times a day, so that none is missed. */
const KEEP_MS = 6 * 3_600_000

const loadAccounts = lazily(() => import('./accounts.ts'))
const loadActivity = lazily(() => import('./openrouter-activity.ts'))

/** Variables that may hold a key for the activity. */
const KEYS = /^(?:OPENROUTER_MANAGEMENT_KEY|GAZEWAY_UPSTREAM_(?:\w+_)?ADMIN_KEY)$/

/**
 * Sweep that keeps the activity of OpenRouter, which forgets it after 30 days. A process without a key has none: it
 * would take the turn of one that has.
 */
export function billSweeps({ store, now, config }: Pick<Base, 'store' | 'now' | 'config'>): Sweep[] {
  const { env } = config.current().request
  if (!Object.entries(env).some(([name, value]) => KEYS.test(name) && value?.trim())) return []
  return [
    {
      name: 'reconcile.activity',
      everyMs: KEEP_MS,
      async batch() {
        const { config: current, request } = config.current()
        const { accountsOf } = await loadAccounts()
        const { keepActivity } = await loadActivity()
        for (const account of accountsOf(current, request.env))
          if (account.vendor === 'openrouter' && account.admin !== null) await keepActivity(store, account, now())
        return 0
      },
    },
  ]
}
