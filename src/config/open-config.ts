import type { Store } from '../store/store.ts'
import { configFile, type LoadedConfig } from './config.ts'
import { fileHome } from './file-home.ts'
import { type LiveConfig, openLiveConfig } from './live-config.ts'
import type { Log } from './log.ts'
import { tableHome } from './table-home.ts'

/** The configuration from now on: of machines on one PostgreSQL in the store, of those on one data folder in its file. */
export async function openConfig(read: LoadedConfig, store: Store, log: Log): Promise<LiveConfig> {
  const home = {
    sqlite: () => fileHome(configFile(read.dataDir)),
    postgres: () =>
      tableHome({
        store,
        now: () => new Date(),
        onRefused: (key) => log.warn('A setting in the store is not one of this version; it is passed over.', { key }),
      }),
  }[store.engine]()
  const live = await openLiveConfig({
    loaded: read,
    home,
    onFault: (err) => log.error('A change of the configuration is not in force.', { err }),
  })
  const learn = () => log.keepOut([...live.current().secrets, ...live.stored().secrets])
  learn()
  const { level } = live.current().config.log
  if (level !== read.config.log.level) log.setLevel(level)
  live.onChange((next, before) => {
    learn()
    if (next.config.log.level !== before.config.log.level) log.setLevel(next.config.log.level)
    for (const key of next.leftOut.filter((known) => !before.leftOut.includes(known)))
      log.warn('A key in the environment is not sent to the new address: it is for the one of the start.', { key })
  })
  return live
}
