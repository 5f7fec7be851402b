import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { z } from 'zod'
import { decodeCursor, encodeCursor, ListQuery, toPage } from '../../src/store/page.ts'

const Place = z.tuple([z.string(), z.int()])
const options = (limit: number) => ({ limit, total: 9, item: (n: number) => n * 10, cursor: (n: number) => ['at', n] })

describe('a page', () => {
  it('asks for 50 items unless told otherwise, and for 1 to 1,000', () => {
    assert.deepEqual(ListQuery.parse({}), { limit: 50 })
    for (const limit of [0, 1001, 2.5, '5']) assert.ok(!ListQuery.safeParse({ limit }).success)
  })

  it('has a cursor only when more follows, which is of its last item', () => {
    assert.deepEqual(toPage([1, 2, 3], options(3)), { items: [10, 20, 30], total: 9, next_cursor: null })
    assert.deepEqual(toPage([], options(3)), { items: [], total: 9, next_cursor: null })
    const { items, next_cursor } = toPage([1, 2, 3], options(2))
    assert.deepEqual(items, [10, 20])
    assert.deepEqual(decodeCursor(next_cursor ?? '', Place), ['at', 2])
  })

  it('gives back the values of a cursor, and refuses whatever is not one', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer(), (text, n) =>
        assert.deepEqual(decodeCursor(encodeCursor([text, n]), Place), [text, n]),
      ),
    )
    for (const cursor of ['', 'x', '!!!', encodeCursor([]), encodeCursor([1, 'x']), encodeCursor(['a', 1, 2])])
      assert.throws(() => decodeCursor(cursor, Place), { code: 'invalid_cursor', status: 400, param: 'cursor' })
  })
})
