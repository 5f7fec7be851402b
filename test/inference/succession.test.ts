import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { poolSend, type RequestPool } from '../../src/inference/relay/request-pool.ts'
import { createSuccession } from '../../src/inference/relay/succession.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')
const REQUEST = { method: 'POST', path: '/', headers: {}, body: '{}' }

let server: Server
let replies: ServerResponse[]
before(async () => {
  replies = []
  server = createServer((_, reply) => {
    replies.push(reply)
    server.emit('asked')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
after(() => server.close())

const newPool = (): RequestPool =>
  poolSend({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, timeoutMs: 60_000 }, 5000)

/** Sends a request that is under way when this resolves. `end` resolves as it ends, with why it failed. */
async function ask(pool: RequestPool): Promise<{ reply: ServerResponse; end: Promise<Error | null> }> {
  const asked = once(server, 'asked')
  const end = new Promise<Error | null>((resolve) => {
    pool.send(REQUEST, { onHead() {}, onData() {}, onEnd: () => resolve(null), onError: resolve })
  })
  await asked
  return { reply: replies.at(-1) as ServerResponse, end }
}

/** Tells whether memory is released within a number of turns. */
async function isLetGo(held: WeakRef<object>): Promise<boolean> {
  for (let turns = 0; turns < 50; turns++) {
    await turn()
    collect()
    if (held.deref() === undefined) return true
  }
  return false
}

it('lets a pool go whose place another took, once nothing is under way on it', async () => {
  const pools = createSuccession<RequestPool>()
  const first = new WeakRef(pools.put(newPool()))
  const { reply, end } = await ask(first.deref() as RequestPool)
  pools.put(newPool())
  assert.equal(await isLetGo(first), false, 'a request is under way')
  reply.end('{}')
  assert.equal(await end, null, 'what is under way ends as it would have')
  reply.socket?.destroy()
  assert.equal(await isLetGo(first), true)
  await pools.close()
})

it('ends what is under way on all of them when it is closed', async () => {
  const pools = createSuccession<RequestPool>()
  const [earlier, newest] = [await ask(pools.put(newPool())), await ask(pools.put(newPool()))]
  await pools.close()
  for (const { end } of [earlier, newest]) assert.equal(((await end) as { code?: string }).code, 'service_stopping')
})

it('ends what turns to an earlier one a second time, too', async () => {
  const pools = createSuccession<RequestPool>()
  const earlier = pools.put(newPool())
  const first = await ask(earlier)
  pools.put(newPool())
  first.reply.end('{}')
  await first.end
  const { end } = await ask(earlier)
  await pools.close()
  assert.equal(((await end) as { code?: string }).code, 'service_stopping')
})
