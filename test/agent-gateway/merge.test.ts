import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import * as z from 'zod'
import { mergeSessions } from '../../src/agent-gateway/merge.ts'
import { lastActiveFirst } from '../../src/agent-gateway/remote-sessions.ts'
import type { Session } from '../../src/sessions/session.ts'
import { decodeCursor, encodeCursor } from '../../src/store/page.ts'

const session = (id: string, last_active: number) => ({ id, last_active }) as Session

/** A list of our own over `sessions`, which are in order, with a cursor as the store has it. */
const ownList =
  (sessions: readonly Session[]) =>
  async ({
    limit,
    cursor,
    offset = 0,
  }: {
    limit: number
    cursor?: string | undefined
    offset?: number | undefined
  }) => {
    const after = cursor === undefined ? null : decodeCursor(cursor, z.tuple([z.number(), z.string()]))
    const last = after && session(after[1], after[0])
    const rest = last ? sessions.filter((one) => lastActiveFirst(last, one) < 0) : sessions.slice(offset)
    const items = rest.slice(0, limit)
    const end = items.at(-1)
    const next_cursor = end && rest.length > limit ? encodeCursor([end.last_active, end.id]) : null
    return { items, total: sessions.length, next_cursor }
  }

/** Two lists in order, with many of the same time. */
const lists = fc
  .tuple(fc.array(fc.nat(8), { maxLength: 25 }), fc.array(fc.nat(8), { maxLength: 25 }))
  .map(([ours, theirs]) => ({
    ours: ours.map((at, i) => session(`ses_${i}`, at)).sort(lastActiveFirst),
    theirs: theirs.map((at, i) => session(`upstream:${i}`, at)).sort(lastActiveFirst),
  }))

describe('two lists of sessions as one', () => {
  it('are walked to their end by cursor: every session once, in order', async () => {
    await fc.assert(
      fc.asyncProperty(lists, fc.integer({ min: 1, max: 9 }), async ({ ours, theirs }, limit) => {
        const walked: Session[] = []
        let cursor: string | undefined
        do {
          const page = await mergeSessions({ limit, cursor }, { own: ownList(ours), theirs })
          assert.equal(page.total, ours.length + theirs.length)
          assert.ok(page.items.length === limit || page.next_cursor === null, 'only the last page is short')
          walked.push(...page.items)
          cursor = page.next_cursor ?? undefined
        } while (cursor !== undefined)
        assert.deepEqual(walked, [...ours, ...theirs].sort(lastActiveFirst))
      }),
    )
  })

  it('are entered at any offset, and gone on from there', async () => {
    await fc.assert(
      fc.asyncProperty(lists, fc.nat(60), fc.integer({ min: 1, max: 9 }), async ({ ours, theirs }, offset, limit) => {
        const all = [...ours, ...theirs].sort(lastActiveFirst)
        const page = await mergeSessions({ limit, offset }, { own: ownList(ours), theirs })
        assert.deepEqual(page.items, all.slice(offset, offset + limit))
        if (page.next_cursor === null) return assert.ok(offset + limit >= all.length, 'nothing follows')
        const next = await mergeSessions({ limit, cursor: page.next_cursor }, { own: ownList(ours), theirs })
        assert.deepEqual(next.items, all.slice(offset + limit, offset + 2 * limit))
      }),
    )
  })

  it('may be theirs alone', async () => {
    const theirs = [3, 2, 1].map((at) => session(`upstream:${at}`, at))
    const first = await mergeSessions({ limit: 2 }, { own: null, theirs })
    assert.deepEqual([first.items, first.total], [theirs.slice(0, 2), 3])
    const rest = await mergeSessions({ limit: 2, cursor: first.next_cursor ?? '' }, { own: null, theirs })
    assert.deepEqual([rest.items, rest.next_cursor], [theirs.slice(2), null])
    assert.deepEqual((await mergeSessions({ limit: 2, offset: 2 }, { own: null, theirs })).items, theirs.slice(2))
  })

  it('refuse a cursor of another list', async () => {
    for (const cursor of ['', 'none', encodeCursor(['a'])])
      await assert.rejects(mergeSessions({ limit: 2, cursor }, { own: null, theirs: [] }), { code: 'invalid_cursor' })
  })
})
