import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { beginReplyInTurn, inReplyTurn } from '../../adapters/web/large-reply-queue.ts'
import { listReply } from '../../adapters/web/list-reply.ts'
import { streamed } from '../../adapters/web/stream-body.ts'
import type { Page, Paged } from '../../src/store/page.ts'

const REPLIES = 64
/** A part of a list; each is one item. */
const ITEM = 'x'.repeat(200_000)
const PARTS = 5
const ALL: Paged = { limit: 1000 }

/** A list whose parts are read as slowly as a store may, and how many of them were read at once. */
function slowList() {
  const seen = { now: 0, most: 0, all: 0 }
  const read = async ({ cursor = '0' }: Paged): Promise<Page<string>> => {
    seen.now++
    seen.all++
    seen.most = Math.max(seen.most, seen.now)
    await new Promise((resolve) => setImmediate(resolve))
    seen.now--
    const next = Number(cursor) + 1
    return { items: [ITEM], total: PARTS, next_cursor: next < PARTS ? String(next) : null }
  }
  return { seen, read }
}

const asResponse = (reply: unknown): Response => {
  assert.ok(reply instanceof Response, 'the list is not sent in parts')
  return reply
}

describe('replies that are made in parts', () => {
  it('are made few at once, however many are asked for, and each is whole', async () => {
    const { seen, read } = slowList()
    const texts = await Promise.all(
      Array.from({ length: REPLIES }, async () => asResponse(await listReply(ALL, read)).text()),
    )
    for (const text of texts)
      assert.deepEqual(JSON.parse(text), { items: Array(PARTS).fill(ITEM), total: PARTS, next_cursor: null })
    assert.equal(seen.all, REPLIES * PARTS)
    assert.ok(seen.most <= 4, `${seen.most} parts were read at once`)
  })

  it('hold no turn while their clients take their time', async () => {
    const { read } = slowList()
    const idle = await Promise.all(Array.from({ length: REPLIES }, async () => asResponse(await listReply(ALL, read))))
    const readers = idle.map((reply) => reply.body?.getReader())
    // Each has its first piece and asks for no more.
    for (const reader of readers) await reader?.read()
    const text = await asResponse(await listReply(ALL, read)).text()
    assert.equal(JSON.parse(text).items.length, PARTS)
    for (const reader of readers) await reader?.cancel()
  })

  it('release their turn when they fail or their client disconnects', async () => {
    const failing = () => Promise.reject(new Error('unreadable'))
    for (let i = 0; i < 10; i++) await assert.rejects(inReplyTurn(failing), /unreadable/)
    async function* endless(): AsyncGenerator<string, void> {
      for (;;) yield ITEM
    }
    for (let i = 0; i < 10; i++) {
      const reader = streamed(endless()).getReader()
      await reader.read()
      await reader.cancel()
    }
    assert.equal(await inReplyTurn(() => 'made'), 'made')
  })

  it('are refused where too many wait for their first piece', async () => {
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const asked = Array.from({ length: 1010 }, () => beginReplyInTurn(() => gate))
    const outcomes = Promise.allSettled(asked)
    open()
    const refused = (await outcomes).filter(({ status }) => status === 'rejected')
    assert.equal(refused.length, 1010 - 1004)
    for (const outcome of refused)
      if (outcome.status === 'rejected') assert.equal(outcome.reason.code, 'store_unavailable')
  })
})
