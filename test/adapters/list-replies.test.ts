import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'

const MIB = 1024 * 1024
const LARGE = 'lorem ipsum '.repeat(20_000)

interface Listed {
  items: Array<{ id?: string; key?: string; call_id?: string }>
  total: number
  next_cursor: string | null
}

describe('a list whose items are large', () => {
  let platform: RunningPlatform
  before(async () => {
    platform = await startPlatform('sandbox', { document: { audit: { store_content: true } } })
  })
  after(() => platform.close())

  /** All pages of a list, each at most 5 MiB and with the same total. */
  async function pages(path: string): Promise<Listed[]> {
    const read: Listed[] = []
    for (let cursor = ''; ; ) {
      const reply = await ask(platform, 'GET', `${path}limit=1000${cursor}`, { key: platform.admin })
      assert.equal(reply.status, 200)
      assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
      const text = await reply.text()
      assert.ok(Buffer.byteLength(text) <= 5 * MIB)
      const page = JSON.parse(text) as Listed
      read.push(page)
      if (page.next_cursor === null) return read
      cursor = `&cursor=${page.next_cursor}`
    }
  }
  const idsOf = (read: readonly Listed[]) =>
    read.flatMap(({ items }) => items.map((item) => item.id ?? item.call_id ?? item.key))

  it('ends its pages early, and its cursors lead to each item once', async () => {
    for (let i = 0; i < 40; i++)
      await platform.gateway.memory.store({ key: `large/${i}`, value: LARGE, namespace: 'default', tags: ['large'] })
    for (const path of ['/api/memory?', '/api/memory?tag=large&']) {
      const read = await pages(path)
      assert.ok(read.length >= 2)
      assert.ok(read.every(({ total }) => total === 40))
      const stored = await platform.gateway.memory.keys({ start: 'large/', limit: 100 })
      const keys = read.flatMap(({ items }) => items.map(({ key }) => key))
      assert.deepEqual(keys.toSorted(), stored.toSorted())
      assert.ok((read[0]?.items.length ?? 0) * LARGE.length > 3.5 * MIB, 'a page is as large as it may be')
    }
  })

  it('is so for what a search finds, of which the best are shown', async () => {
    const body = { query: 'lorem', limit: 100 }
    const reply = await ask(platform, 'POST', '/api/memory/search', { key: platform.admin, body })
    const text = await reply.text()
    assert.ok(Buffer.byteLength(text) <= 5 * MIB)
    const { results, total } = JSON.parse(text)
    assert.equal(total, 40)
    assert.ok(results.length > 10 && results.length < 40)
  })

  it('counts the bytes that control characters take', async () => {
    for (let i = 0; i < 8; i++)
      await platform.gateway.memory.store({ key: `bell/${i}`, value: '\u0007'.repeat(250_000), namespace: 'bells' })
    const read = await pages('/api/memory?namespace=bells&')
    assert.equal(idsOf(read).length, 8)
    assert.ok(read.length >= 3)
  })

  it('leaves the rest to a page of its own where few are asked for', async () => {
    const reply = await ask(platform, 'GET', '/api/memory?tag=large&limit=3', { key: platform.admin })
    const page = (await reply.json()) as Listed
    assert.equal(page.items.length, 3)
    assert.notEqual(page.next_cursor, null)
  })

  it('is so for tasks with their results, and calls with their content', async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, i) => ask(platform, 'POST', '/api/tasks', { body: { title: `task ${i}` } })),
    )
    for (const reply of made) {
      const { id } = (await reply.json()) as { id: string }
      assert.equal((await ask(platform, 'POST', `/api/tasks/${id}/claim`, { body: { agent: 'a' } })).status, 200)
      const body = { agent: 'a', result: LARGE }
      assert.equal((await ask(platform, 'POST', `/api/tasks/${id}/complete`, { body })).status, 200)
    }
    assert.equal(new Set(idsOf(await pages('/api/tasks?'))).size, 20)

    const messages = [{ role: 'user', content: LARGE }]
    for (let i = 0; i < 20; i++)
      assert.equal((await ask(platform, 'POST', '/v1/chat/completions', { body: { messages } })).status, 200)
    const tooLarge = [{ role: 'user', content: LARGE.repeat(6) }]
    assert.equal((await ask(platform, 'POST', '/v1/chat/completions', { body: { messages: tooLarge } })).status, 200)
    const read = await pages('/api/calls?')
    assert.equal(new Set(idsOf(read)).size, 21)
    const [newest] = (read[0]?.items ?? []) as Array<{ call_id: string; content?: unknown }>
    assert.equal(newest?.content, undefined, 'content that is a page by itself is not listed')
    const whole = await ask(platform, 'GET', `/api/calls/${newest?.call_id}`, { key: platform.admin })
    assert.notEqual(((await whole.json()) as { content?: unknown }).content, undefined)
  })

  it('is so for messages, whose page stands in the reply three times', async () => {
    const { gateway, keyId } = platform
    // Ten of these cost more than the credit of a new key.
    await gateway.keys.change(keyId, { billing: 'recorded' })
    const { id } = await gateway.sessions.create({}, { userId: keyId, source: 'platform' })
    for (let i = 0; i < 10; i++) await ask(platform, 'POST', `/api/sessions/${id}/chat`, { body: { message: LARGE } })
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const reply = await ask(platform, 'GET', `/api/sessions/${id}/messages?limit=1000${cursor}`)
      const text = await reply.text()
      assert.ok(Buffer.byteLength(text) <= 5 * MIB)
      const page = JSON.parse(text)
      assert.deepEqual(page.data, page.items)
      assert.deepEqual(page.messages, page.items)
      seen.unshift(...page.items.map((message: { id: string }) => message.id))
      if (page.next_cursor === null) break
      cursor = `&cursor=${page.next_cursor}`
    }
    const all: string[] = []
    for await (const message of gateway.sessions.newest(id)) all.unshift(message.id)
    assert.ok(all.length === 20)
    assert.deepEqual(seen, all)
  })
})
