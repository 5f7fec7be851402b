// A process that checks keys: `guard.ts FOLDER`. Answers each token on stdin with the bearer's id or the error's code;
// `watch` with the id of the next key that is revoked.
import { createInterface } from 'node:readline'
import { GazewayError } from '../../src/errors.ts'
import { createKeys } from '../../src/identity/keys.ts'
import { openStore } from '../../src/store/open-store.ts'

const [folder = ''] = process.argv.slice(2)
const store = await openStore(`sqlite:${folder}/gazeway.db`)
const keys = createKeys({
  store,
  now: () => new Date(),
  fixedKey: null,
  onError: (error) => {
    throw error
  },
})

for await (const line of createInterface(process.stdin)) process.stdout.write(`${await answer(line)}\n`)
await keys.close()
await store.close()

async function answer(line: string): Promise<string> {
  if (line === 'watch') return new Promise((resolve) => keys.onEnded(resolve))
  try {
    return (await keys.authenticate(line)).id
  } catch (error) {
    return error instanceof GazewayError ? error.code : String(error)
  }
}
