import type { LoadedConfig } from './config/config.ts'
import type { LiveConfig } from './config/live-config.ts'
import type { Log } from './config/log.ts'
import { openConfig } from './config/open-config.ts'
import { useDownloaded } from './providers/downloaded-catalogue.ts'
import { openStoreClock } from './store/clock.ts'
import { openStore } from './store/open-store.ts'
import type { Store } from './store/store.ts'

/** Time after which a store that is slow to open is reported. */
const OPENED_WITHIN_MS = 5_000

/** Services that every room is built on. A room's door follows its own settings in `config`. */
export interface Base {
  store: Store
  /** The store's clock. */
  now: () => Date
  /** Changes the configuration and reports changes. */
  config: LiveConfig
  log: Log
}

/**
 * Opens the store, its clock and the live configuration.
 *
 * @returns the base, and `stop`, which ends the clock and the checks for changes; the store stays open
 * @throws GazewayError `store_unavailable`, `store_corrupt`, `store_too_new` or `config_invalid`
 */
export async function openBase(read: LoadedConfig, log: Log): Promise<Base & { stop(): Promise<void> }> {
  useDownloaded(read.dataDir)
  const store = await openedInTime(read.storeUrl, log)
  const undo: (() => void | Promise<void>)[] = [() => store.close()]
  try {
    const clock = await openStoreClock(store, {
      onError: (err) => log.warn("Failed to read the store's clock; deadlines use its last known offset.", { err }),
    })
    undo.unshift(clock.stop)
    const config = await openConfig(read, store, log)
    return {
      store,
      now: clock.now,
      config,
      log,
      stop() {
        clock.stop()
        return config.close()
      },
    }
  } catch (error) {
    for (const step of undo) await step()
    throw error
  }
}

/** Returns a handler that logs errors under a message. */
export const logged =
  ({ log }: Pick<Base, 'log'>, message: string, level: 'warn' | 'error' = 'error') =>
  (err: unknown): void =>
    log[level](message, { err })

async function openedInTime(url: string, log: Log): Promise<Store> {
  const slow = setTimeout(
    () =>
      log.warn(
        'The store is slow to open. It may be unreachable, locked, or migrating, here or in another process; a large store takes minutes to migrate.',
      ),
    OPENED_WITHIN_MS,
  )
  try {
    return await openStore(url)
  } finally {
    clearTimeout(slow)
  }
}
