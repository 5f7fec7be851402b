import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hunksOf } from '../../src/review/hunks.ts'
import { modeItem } from '../../src/review/items.ts'
import { type Reading, readingOf, type Sighting } from '../../src/review/reading.ts'
import { numbered } from './repository.ts'

const START = Date.parse('2026-11-26T17:00:00.000Z')

/** Lines in view `after` ms from the start, received when the view ended. */
function view(path: string, [line_start, line_end]: [number, number], after: number, dwell_ms: number): Sighting {
  return { path, line_start, line_end, at: START + after, dwell_ms, received: START + after + dwell_ms }
}

const read = (content: string, sightings: Sighting[], old = ''): Promise<Reading> =>
  readingOf(hunksOf('a.txt', old, content), sightings, new Set(), START)

const seenIn = ({ parts }: Reading): number => parts.reduce((sum, { seen }) => sum + seen, 0)

describe('how far a change was read', () => {
  it('shares each millisecond among the lines in view, and needs 250 ms a changed line', async () => {
    const ten = numbered(10)
    assert.equal(seenIn(await read(ten, [view('a.txt', [1, 10], 0, 2500)])), 10)
    assert.equal(seenIn(await read(ten, [view('a.txt', [1, 10], 0, 2499)])), 0)
    assert.equal(seenIn(await read(ten, [view('a.txt', [1, 5], 0, 1250), view('a.txt', [6, 10], 1250, 1000)])), 5)
    const [part] = (await read(ten, [view('a.txt', [1, 10], 0, 2000)])).parts
    assert.deepEqual([part?.seen, part?.exposed, part?.seen_ms], [0, 10, 2000])
  })

  it('credits a script that scrolls screen by screen with exposure alone', async () => {
    const lines = 2240
    const screens = Array.from({ length: lines / 40 }, (_, screen) =>
      view('a.txt', [screen * 40 + 1, screen * 40 + 40], screen * 300, 300),
    )
    const [part] = (await read(numbered(lines), screens)).parts
    assert.deepEqual([part?.exposed, part?.seen], [lines, 0])
  })

  it('credits a viewport of 60,000 lines no more than its time', async () => {
    const [part] = (await read(numbered(2000), [view('a.txt', [1, 60_000], 0, 700)])).parts
    assert.ok(part && part.seen === 0 && part.seen_ms <= 700)
  })

  it('counts lines of other files and context that were in view with them', async () => {
    const old = numbered(10)
    const changed = old.replace('line 5\n', 'five\n')
    assert.equal(seenIn(await read(changed, [view('a.txt', [2, 8], 0, 8 * 250)], old)), 2, 'with six lines around')
    assert.equal(seenIn(await read(changed, [view('a.txt', [2, 8], 0, 7 * 250)], old)), 0)
    const other = { ...view('b.txt', [1, 8], 0, 8 * 250) }
    assert.equal(seenIn(await read(changed, [view('a.txt', [2, 8], 0, 8 * 250), other], old)), 0)
  })

  it('finds removed lines between the lines of the new file, and by their old numbers in a removed one', async () => {
    const old = numbered(10)
    const [hunk] = (await read(old.replace('line 5\n', ''), [view('a.txt', [5, 5], 0, 500)], old)).parts
    assert.deepEqual([hunk?.seen, hunk?.lines], [1, 1])
    assert.equal(seenIn(await read('', [view('a.txt', [3, 4], 0, 500)], old)), 2)
  })

  it('never credits more time than passed at the gateway, nor a moment twice, nor one outside of the review', async () => {
    const ten = numbered(10)
    const claim = { ...view('a.txt', [1, 10], 0, 60_000), received: START + 1000 }
    assert.equal((await read(ten, [claim])).active_ms, 1000)
    assert.equal((await read(ten, [claim, { ...claim, received: START + 2000 }])).active_ms, 1000)
    const again = [view('a.txt', [1, 10], 0, 2000), { ...view('a.txt', [1, 10], 0, 2000), received: START + 60_000 }]
    assert.equal((await read(ten, again)).active_ms, 2000)
    assert.equal((await read(ten, [view('a.txt', [1, 10], -900_000, 800_000)])).active_ms, 0)
    const ahead = { ...view('a.txt', [1, 10], 600_000, 2500), received: START + 10_000 }
    assert.equal((await read(ten, [ahead])).active_ms, 0)
  })

  it('counts two views at one moment as one moment', async () => {
    const old = numbered(40)
    const changed = old.replace('line 5\n', 'five\n').replace('line 35\n', 'thirty-five\n')
    const both = [view('a.txt', [5, 5], 0, 1000), view('a.txt', [35, 35], 0, 1000)]
    const reading = await read(changed, both, old)
    assert.equal(reading.active_ms, 1000)
    assert.deepEqual(
      reading.parts.map(({ seen, seen_ms }) => [seen, seen_ms]),
      [
        [2, 500],
        [2, 500],
      ],
    )
  })

  it('counts a line once that a page and a webcam name at one moment', async () => {
    const ten = numbered(10)
    const [page, webcam] = [view('a.txt', [1, 10], 0, 2500), view('a.txt', [4, 6], 0, 2500)]
    assert.equal(seenIn(await read(ten, [page, webcam])), 10)
    assert.equal(seenIn(await read(ten, [page, { ...webcam, path: 'b.txt' }])), 0)
    const apart = [view('a.txt', [1, 4], 0, 2500), view('a.txt', [3, 8], 0, 2500), view('a.txt', [8, 10], 0, 2500)]
    assert.equal(seenIn(await read(ten, apart)), 10)
  })

  it('tells order and returns, and what was never in view', async () => {
    const old = numbered(60)
    const changed = old.replace('line 5\n', 'five\n').replace('line 30\n', 'x\n').replace('line 55\n', 'y\n')
    const views = [
      view('a.txt', [55, 55], 0, 1000),
      view('a.txt', [5, 5], 1000, 1000),
      view('a.txt', [55, 55], 2000, 1000),
    ]
    assert.deepEqual(
      (await read(changed, views, old)).parts.map(({ first_ms, visits }) => [first_ms, visits]),
      [
        [1000, 1],
        [null, 0],
        [0, 2],
      ],
    )
  })

  it('lists the runs of rows that were glanced at, and that were not in view at all', async () => {
    const old = numbered(10)
    const changed = old.replace('line 3\n', 'three\n').replace('line 9\n', 'nine\nten\n')
    const [hunk] = (await read(changed, [view('a.txt', [3, 3], 0, 600), view('a.txt', [9, 9], 600, 100)], old)).parts
    assert.deepEqual([hunk?.seen, hunk?.glanced, hunk?.unread], [2, [[9, 10]], [[11, 11]]])
  })

  it('counts an item once it was acknowledged', async () => {
    const item = modeItem({ path: 'run.sh', old: { mode: '100644', oid: 'a' }, new: { mode: '100755', oid: 'a' } })
    const seen = async (acknowledged: string[]) => seenIn(await readingOf([item], [], new Set(acknowledged), START))
    assert.deepEqual([await seen([]), await seen([item.digest])], [0, 1])
  })

  it('bounds what a hostile client sends at once, and lets others run meanwhile', async () => {
    const change = numbered(200_000).replace(/line \d*[02468]\n/g, '')
    const parts = hunksOf('a.txt', numbered(100_000), change)
    const received = START + 1000
    const claims = Array.from({ length: 1000 }, (_, at) => ({
      ...view('a.txt', [1 + at, 500 + at], at, 900),
      received,
    }))
    let turns = 0
    const counting = setInterval(() => turns++, 1)
    const started = performance.now()
    await readingOf(parts, claims, new Set(), START)
    clearInterval(counting)
    // Each look at each line would take minutes.
    assert.ok(performance.now() - started < 40_000, `${performance.now() - started} ms`)
    assert.ok(turns > 3, `${turns} turns`)
  })

  it('reads 50,000 lines in an hour of records', async () => {
    const hour = Array.from({ length: 3600 }, (_, at) => view('a.txt', [at * 10 + 1, at * 10 + 60], at * 1000, 1000))
    assert.ok(seenIn(await read(numbered(50_000), hour)) < 3600 * 4)
  })
})
