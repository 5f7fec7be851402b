import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import * as z from 'zod'
import { decodeCursor, encodeCursor, ListQuery, PAGE_BYTES, type PageSource, readPage } from '../../src/store/page.ts'
import { jsonBytes } from '../../src/text/json-bytes.ts'

const Place = z.tuple([z.string(), z.int()])

/** Some numbers as rows, and how many were asked for. */
function source(numbers: readonly number[]) {
  const asked: number[] = []
  return {
    asked,
    rows: async (limit: number) => {
      asked.push(limit)
      return numbers.slice(0, limit)
    },
    total: () => 9,
    item: (n: number) => n * 10,
    cursor: (n: number) => ['at', n],
  } satisfies PageSource<number, number> & { asked: number[] }
}

/** Texts of so many characters as rows, which know their sizes. */
function texts(...lengths: number[]) {
  const asked: number[] = []
  return {
    asked,
    rows: async (limit: number) => {
      asked.push(limit)
      return lengths.slice(0, limit).map((length) => 'x'.repeat(length))
    },
    sizes: async (limit: number) => lengths.slice(0, limit),
    total: () => lengths.length,
    item: (text: string) => text,
    cursor: (text: string) => [text.length],
  } satisfies PageSource<string, string> & { asked: number[] }
}

describe('a page', () => {
  it('asks for 50 items by default, and for 1 to 1,000', () => {
    assert.deepEqual(ListQuery.parse({}), { limit: 50 })
    for (const limit of [0, 1001, 2.5, '5']) assert.ok(!ListQuery.safeParse({ limit }).success)
  })

  it('has a cursor only when more follows, which is of its last item', async () => {
    assert.deepEqual(await readPage({ limit: 3 }, source([1, 2, 3])), {
      items: [10, 20, 30],
      total: 9,
      next_cursor: null,
    })
    assert.deepEqual(await readPage({ limit: 3 }, source([])), { items: [], total: 9, next_cursor: null })
    const { items, next_cursor } = await readPage({ limit: 2 }, source([1, 2, 3]))
    assert.deepEqual(items, [10, 20])
    assert.deepEqual(decodeCursor(next_cursor ?? '', Place), ['at', 2])
  })

  it('ends before the item that would take it beyond 4 MiB, and reads no more rows than it can hold', async () => {
    const rows = texts(...Array.from({ length: 1000 }, () => 250_000))
    const { items, next_cursor, total } = await readPage({ limit: 1000 }, rows)
    assert.ok(jsonBytes(items) <= PAGE_BYTES && jsonBytes(items) > PAGE_BYTES - 300_000)
    assert.equal(items.length, 16)
    assert.equal(total, 1000)
    assert.notEqual(next_cursor, null)
    assert.deepEqual(rows.asked, [17])
  })

  it('counts the bytes of items as they are sent, and has one item however large that is', async () => {
    const escaped = { ...texts(100, 100), item: (text: string) => text.replaceAll('x', '\u0001') }
    assert.equal((await readPage({ limit: 10, maxBytes: 700 }, escaped)).items.length, 1)
    const large = await readPage({ limit: 10, maxBytes: 700 }, texts(5000, 1))
    assert.deepEqual([large.items.length, large.next_cursor === null], [1, false])
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
