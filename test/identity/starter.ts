// A process that starts on a data folder: `starter.ts FOLDER`. Says `ready`, waits for a line, and prints the token of the
// first key where it made it, else `none`.
import { once } from 'node:events'
import { createKeys } from '../../src/identity/keys.ts'
import { openStore } from '../../src/store/open-store.ts'

const [folder = ''] = process.argv.slice(2)
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const store = await openStore(`sqlite:${folder}/gazeway.db`)
const keys = createKeys({
  store,
  now: () => new Date(),
  fixedKey: null,
  onError: (error) => {
    throw error
  },
})
process.stdout.write(`${(await keys.ensureFirstKey({ dataDir: folder })) ?? 'none'}\n`)
await keys.close()
await store.close()
process.stdin.destroy()
