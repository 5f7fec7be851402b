// A process that works under an idempotency key: `worker.ts FOLDER KEY hang|append`. Says `ready`, waits for a line, and then
// either works for ever (and says `working`), or appends a line to FOLDER/effects and prints the reply or the error's code.

import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { GazewayError } from '../../src/errors.ts'
import { createIdempotency } from '../../src/idempotency/idempotency.ts'
import { openStore } from '../../src/store/open-store.ts'

const [folder = '', key = '', task = ''] = process.argv.slice(2)
const store = await openStore(`sqlite:${folder}/gazeway.db`)
const { run } = createIdempotency({
  store,
  now: () => new Date(),
  onError: (error) => {
    throw error
  },
})
process.stdout.write('ready\n')
await once(process.stdin, 'data')
try {
  const { reply, replayed } = await run({ scope: 'key_1', key, route: 'POST /x', body: '{}' }, work)
  process.stdout.write(`${replayed ? 'replayed' : 'done'} ${reply.body}\n`)
} catch (error) {
  process.stdout.write(`${error instanceof GazewayError ? error.code : String(error)}\n`)
}
await store.close()
process.stdin.destroy()

async function work() {
  if (task === 'hang') {
    process.stdout.write('working\n')
    await once(process.stdin, 'end')
  }
  appendFileSync(`${folder}/effects`, `${process.pid}\n`)
  return { status: 201, body: '"made"' }
}
