// A process that changes the configuration of a data folder: `setter.ts FOLDER JSON`.
import { configFile, loadConfig } from '../../src/config/config.ts'
import { fileHome } from '../../src/config/home.ts'
import { openLiveConfig } from '../../src/config/live-config.ts'

const [folder = '', changes = '{}'] = process.argv.slice(2)
const loaded = await loadConfig({ env: {}, flags: { data: folder } })
const live = await openLiveConfig({
  loaded,
  home: fileHome(configFile(folder)),
  onFault: (error) => {
    throw error
  },
})
await live.set(JSON.parse(changes))
await live.close()
