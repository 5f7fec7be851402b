import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { createIdempotency } from '../../src/idempotency/idempotency.ts'
import { openStore } from '../../src/store/open-store.ts'
import { sharedPostgres } from '../contract/shared-postgres.ts'
import { startCuttingProxy } from '../doubles/cutting-proxy.ts'

const server = await sharedPostgres()
const proxy = await startCuttingProxy(server.port)
after(async () => {
  await proxy.close()
})

it('a key is not taken when the connection is lost before the commit is known', async () => {
  const url = new URL(await server.databaseWithTables())
  url.port = String(proxy.port)
  const store = await openStore(url.href)
  const idempotency = createIdempotency({
    store,
    now: () => new Date(),
    onError: (error) => assert.fail(String(error)),
  })
  for (const [key, words] of [
    ['a', 'insert into "idempotency_keys"'],
    ['b', 'commit'],
  ] as const) {
    const cut = proxy.cutAnswerTo(words)
    const request = { scope: 'key_1', key, route: 'POST /api/tasks', body: '{"title":"x"}' }
    const reply = { status: 201, headers: {}, body: '{"id":"task_1"}' }
    assert.deepEqual(await idempotency.run(request, async () => reply), { reply, replayed: false })
    await cut
    assert.deepEqual(await idempotency.run(request, async () => assert.fail()), { reply, replayed: true })
  }
  await store.close()
})
