import type { Store } from '../store/store.ts'
import { configFile, type LoadedConfig } from './config.ts'
import { fileHome } from './home.ts'
import { type LiveConfig, openLiveConfig } from './live-config.ts'
import type { Log } from './log.ts'
import { tableHome } from './table-home.ts'

/**
 * Opens the live configuration: stored in PostgreSQL for machines that share one, otherwise in the file of the data
 * folder.
 */
export async function openConfig(read: LoadedConfig, store: Store, log: Log): Promise<LiveConfig> {
  const home = {
    sqlite: () => fileHome(configFile(read.dataDir)),
    postgres: () =>
      tableHome({
        store,
        now: () => new Date(),
        onRefused: (key) => log.warn('Ignored a setting in the store that this version does not know.', { key }),
      }),
  }[store.engine]()
  const live = await openLiveConfig({
    loaded: read,
    home,
    onFault: (err) => log.error('A configuration change could not be applied.', { err }),
  })
  const learn = () => log.keepOut([...live.current().secrets, ...live.stored().secrets])
  learn()
  const { level } = live.current().config.log
  if (level !== read.config.log.level) log.setLevel(level)
  live.onChange((next, before) => {
    learn()
    if (next.config.log.level !== before.config.log.level) log.setLevel(next.config.log.level)
    for (const key of next.leftOut.filter((known) => !before.leftOut.includes(known)))
      log.warn('A key in the environment is not sent to the new address: it belongs to the address at startup.', {
        key,
      })
  })
  return live
}
