import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sharedPostgres } from '../contract/shared-postgres.ts'
import * as double from '../doubles/upstream.ts'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'
import { connectWithKey } from './socket-client.ts'

const CHATS = 10
const ROUNDS = 3

interface Message {
  role: string
  content: string
}

describe('the agent socket on PostgreSQL, which answers several look-ups at once', () => {
  let upstream: double.UpstreamDouble
  let running: RunningPlatform
  before(async () => {
    const server = await sharedPostgres()
    upstream = await double.startUpstream()
    upstream.on('/chat/completions', double.json(200, double.completion('Yes.')))
    running = await startPlatform(upstream.url, {
      env: { GAZEWAY_STORE: await server.databaseWithTables() },
      withHttp: false,
    })
  })
  after(async () => {
    await running.close()
    await upstream.close()
  })

  it('answers and keeps chats in the order in which they were sent', async () => {
    const sent = Array.from({ length: CHATS }, (_, i) => `message ${i}`)
    for (let round = 0; round < ROUNDS; round++) {
      const client = await connectWithKey(running, running.key)
      for (const content of sent) client.send({ type: 'chat', content, id: content })
      const answered: unknown[] = []
      for (const _ of sent) answered.push((await client.next()).id)
      client.ws.close()
      await client.closed
      assert.deepEqual(answered, sent)
      const path = `/api/sessions/${client.ready.session_id}/messages`
      const { items } = (await (await ask(running, 'GET', path, { key: running.key })).json()) as { items: Message[] }
      const kept = items.filter(({ role }) => role === 'user').map(({ content }) => content)
      assert.deepEqual(kept, sent)
    }
  })
})
