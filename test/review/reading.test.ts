import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { modeItem } from '../../src/review/acknowledged-items.ts'
import type { Part } from '../../src/review/change-parts.ts'
import type { Gesture } from '../../src/review/gestures.ts'
import { hunksOf } from '../../src/review/hunks.ts'
import { type Reading, type ReadingEvidence, readingOf, type Sighting } from '../../src/review/reading.ts'
import { numbered } from './repository.ts'

const START = Date.parse('2026-11-26T17:00:00.000Z')

/** Lines in view `after` ms from the start, received when the view ended. */
function view(path: string, [line_start, line_end]: [number, number], after: number, dwell_ms: number): Sighting {
  return { path, line_start, line_end, at: START + after, dwell_ms, received: START + after + dwell_ms }
}

const readParts = (parts: Part[], evidence: Partial<ReadingEvidence>, canary: Part | null = null): Promise<Reading> =>
  readingOf({ parts, canary }, { sightings: [], gestures: [], acknowledged: new Set(), ...evidence }, START)

const read = (content: string, sightings: Sighting[], old = ''): Promise<Reading> =>
  readParts(hunksOf('a.txt', old, content), { sightings })

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

  it('counts pointers, selections and comments with the hunks that they name, and credits nothing for them', async () => {
    const old = numbered(60)
    const parts = hunksOf('a.txt', old, old.replace('line 5\n', 'five\n').replace('line 50\n', 'fifty\n'))
    const on = (kind: Gesture['kind'], lines: Gesture['lines'], dwell_ms = 0, path = 'a.txt') => {
      return { kind, lines, dwell_ms, path }
    }
    const gestures = [
      on('pointer', [5, 5], 700),
      on('pointer', [4, 4], 300),
      on('pointer', [20, 20], 5000),
      on('pointer', [5, 5], 5000, 'b.txt'),
      on('selection', [4, 50]),
      on('selection', [1, 10_000]),
      on('comment', [50, 50]),
      on('comment', null),
    ]
    const { parts: read, active_ms } = await readParts(parts, { gestures })
    assert.deepEqual(
      read.map(({ pointer_ms, selections, comments }) => [pointer_ms, selections, comments]),
      [
        [1000, 1, 1],
        [0, 1, 2],
      ],
    )
    assert.deepEqual(
      [active_ms, ...read.map(({ seen_ms, exposed, visits }) => [seen_ms, exposed, visits])],
      [0, [0, 0, 0], [0, 0, 0]],
    )
  })

  it('gives the time for each changed line, and the first scan once 80 % of them had been in view for 250 ms', async () => {
    const ten = numbered(10)
    const top = view('a.txt', [1, 7], 0, 1000)
    const [early, whole] = [await read(ten, [top]), await read(ten, [top, view('a.txt', [8, 10], 1000, 2000)])]
    assert.deepEqual([early.ms_per_line, early.first_scan_ms], [100, null])
    assert.deepEqual([whole.ms_per_line, whole.first_scan_ms], [300, 1250])
    const parts = [view('a.txt', [1, 8], 0, 200), view('a.txt', [9, 10], 200, 300), view('a.txt', [1, 8], 500, 300)]
    assert.equal((await read(ten, parts)).first_scan_ms, 550, 'over two views, in active time')
    const none = await read(ten, [])
    assert.deepEqual([none.ms_per_line, none.first_scan_ms], [0, null])
    assert.deepEqual((await readParts([], {})).ms_per_line, null)
  })

  it('has a canary in no sum', async () => {
    const [parts, [canary = null]] = [hunksOf('a.txt', '', numbered(2)), hunksOf('b.txt', '', numbered(8))]
    const sightings = [view('a.txt', [1, 2], 0, 1000), view('b.txt', [1, 8], 1000, 4000)]
    const reading = await readParts(parts, { sightings }, canary)
    assert.deepEqual([reading.parts.length, reading.canary?.seen], [1, 8])
    assert.deepEqual([reading.ms_per_line, reading.first_scan_ms], [2500, 250])
  })

  it('counts an item once it was acknowledged', async () => {
    const item = modeItem({ path: 'run.sh', old: { mode: '100644', oid: 'a' }, new: { mode: '100755', oid: 'a' } })
    const seen = async (acknowledged: string[]) =>
      seenIn(await readParts([item], { acknowledged: new Set(acknowledged) }))
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
    await readParts(parts, { sightings: claims })
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
