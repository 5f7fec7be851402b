// A process that rotates a key again and again until it is killed: `rotator.ts FOLDER ID`. Prints each new token.
import { createKeys } from '../../src/identity/keys.ts'
import { openStore } from '../../src/store/open-store.ts'

const [folder = '', id = ''] = process.argv.slice(2)
const store = await openStore(`sqlite:${folder}/gazeway.db`)
const keys = createKeys({
  store,
  now: () => new Date(),
  fixedKey: null,
  onError: (error) => {
    throw error
  },
})
for (;;) process.stdout.write(`${(await keys.rotate(id, {})).key}\n`)
