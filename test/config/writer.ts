// A process that sets keys in a shared data folder: `writer.ts HOME NAME COUNT`. Prints each acknowledged number.
import { createConfigStore, loadConfig } from '../../src/config/config.ts'

const [home = '', name = '', count = '0'] = process.argv.slice(2)
const request = { env: { GAZEWAY_HOME: home }, flags: {} }
const store = createConfigStore(request, await loadConfig(request))
for (let n = 1; n <= Number(count); n++) {
  await store.set({ [`pricing.models.${name}-${n}`]: n, 'gaze.records_needed': n })
  process.stdout.write(`${n}\n`)
}
