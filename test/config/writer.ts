// A process that sets keys in a shared data folder: `writer.ts HOME NAME COUNT`. Prints each acknowledged number.
import { configFile, loadConfig } from '../../src/config/config.ts'
import { fileHome } from '../../src/config/home.ts'
import { openLiveConfig } from '../../src/config/live-config.ts'

const [home = '', name = '', count = '0'] = process.argv.slice(2)
const loaded = await loadConfig({ env: { GAZEWAY_HOME: home }, flags: {} })
const store = await openLiveConfig({
  loaded,
  home: fileHome(configFile(home)),
  onFault: (error) => {
    throw error
  },
})
for (let n = 1; n <= Number(count); n++) {
  await store.set({ [`pricing.models.${name}-${n}`]: { input: n, output: n }, 'gaze.records_needed': n })
  process.stdout.write(`${n}\n`)
}
