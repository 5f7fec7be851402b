import type { LoadedConfig } from '../../src/config/config.ts'
import type { Config } from '../../src/config/config-schema.ts'
import type { Log } from '../../src/config/log.ts'
import { openConfig } from '../../src/config/open-config.ts'
import { GazewayError } from '../../src/errors.ts'
import { createGroups, type Groups } from '../../src/identity/groups.ts'
import { createKeys, type Keys } from '../../src/identity/keys.ts'
import { openStoreClock } from '../../src/store/clock.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Page, Paged } from '../../src/store/page.ts'
import type { Store } from '../../src/store/store.ts'
import { type Micros, toMicros } from '../../src/text/money.ts'
import { spentAndOwed } from '../../src/wallet/budget/open-debts.ts'
import { bindWallet, unbindWallet } from '../../src/wallet/ledger/bind-wallet.ts'
import { requireStore } from './require-store.ts'

/** Number of records read at a time for a table. */
const PAGE = 1000

/** Flags that set the fields of a key or a group. */
const FLAGS: Readonly<Record<string, string>> = {
  name: '--name',
  group: '--group',
  billing: '--billing',
  models: '--models',
  expires_at: '--expires',
}

/** Dependencies of key commands. */
export interface KeyTools {
  keys: Keys
  groups: Groups
  store: Store
  /** Configuration that a service on the store would use. */
  config: Config
  /** The store's clock. */
  now: () => Date
}

/**
 * Runs `work` on the keys of the configured store with the store's clock, then closes the store.
 *
 * @throws whatever `work` throws; the error names a flag instead of its field
 */
export async function withKeys<T>(loaded: LoadedConfig, log: Log, work: (tools: KeyTools) => Promise<T>): Promise<T> {
  const store = await openStore(loaded.storeUrl)
  const onError = (err: unknown) => log.error('Failed to read or record keys.', { err })
  try {
    const clock = await openStoreClock(store, { onError })
    const live = await openConfig(loaded, store, log)
    const { now } = clock
    const { config } = live.current()
    try {
      const spent = spentAndOwed(store, () => toMicros(config.wallet.default_credit_limit_usd) as Micros)
      const keys = createKeys({
        store,
        now,
        fixedKey: null,
        billing: () => config.wallet.billing,
        spendOf: spent,
        onBound: bindWallet,
        onUnbound: unbindWallet,
        dataDir: loaded.dataDir,
        onError,
      })
      try {
        return await work({ keys, groups: createGroups({ store, now, spendOf: spent }), store, config, now })
      } finally {
        // Else it would write the last use of a key a minute later, when the store is closed.
        await keys.close()
      }
    } catch (error) {
      throw inFlags(error)
    } finally {
      clock.stop()
      await live.close()
    }
  } finally {
    await store.close()
  }
}

/** Does so where the store exists already. @throws GazewayError `not_found` where it does not, and as {@link withKeys} */
export async function withStoredKeys<T>(
  loaded: LoadedConfig,
  log: Log,
  work: (tools: KeyTools) => Promise<T>,
): Promise<T> {
  requireStore(loaded)
  return withKeys(loaded, log, work)
}

/** Prints a whole list as JSON, in the form of the API's lists. */
export function printList(items: readonly unknown[]): void {
  process.stdout.write(`${JSON.stringify({ items, total: items.length, next_cursor: null }, null, 2)}\n`)
}

/** Reads all items of a list, newest first. */
export async function all<T>(list: (page: Paged) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null | undefined
  while (cursor !== null) {
    const page = await list({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    items.push(...page.items)
    cursor = page.next_cursor
  }
  return items
}

function inFlags(error: unknown): unknown {
  if (!(error instanceof GazewayError) || error.code !== 'validation_failed') return error
  const { param, message } = error
  const flag = FLAGS[param ?? '']
  if (param === null || flag === undefined) return error
  return new GazewayError(error.code, message.replace(`${param}:`, `${flag}:`), { param: flag, cause: error })
}
