import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { ATTEMPTS, measureAdversaries, REVIEWS } from '../../bench/adversary-tries.ts'
import { readResults } from '../../bench/results.ts'

/** Tries of each kind here: the first ones of those that the table counts. */
const SAMPLE = 2
/** Streams that the sample is made from: attacks take two, with seeds 100 apart. */
const STORED = [1, 2, 101, 102]

/** Tries of a kind here, and in the table. */
function triesOf(what: string): [here: number, inTable: number] {
  if (what.startsWith('refused at seen: ')) return [REVIEWS, REVIEWS]
  return [SAMPLE, what.startsWith('seen: ') ? REVIEWS : ATTEMPTS]
}

it('The table of adversaries says what the code does: always what it calls 100 %, never what it calls 0 %', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-adversaries-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const table = new Map(readResults('attention')?.measures.map(({ what, figure }) => [what, figure]))
  const sample = await measureAdversaries({ folder, stored: STORED, attempts: SAMPLE, reviews: REVIEWS })
  const listed = [...table.keys()].filter((what) => !what.startsWith('a gaze record in the store'))
  assert.deepEqual(
    sample.map(({ what }) => what),
    listed,
  )
  assert.ok(listed.filter((what) => what.startsWith('attack: ')).length >= 10)
  for (const { what, figure } of sample) {
    if (what.startsWith('refused: ')) continue
    const stated = table.get(what) as number
    const [tries, all] = triesOf(what)
    const [passed, most] = [Math.round((figure * tries) / 100), Math.round((stated * all) / 100)]
    assert.ok(passed <= most && tries - passed <= all - most, `${what}: ${passed} of ${tries} here, ${stated} % there`)
  }
  const [readings] = sample
  assert.equal(readings?.figure, 0, 'readings of a person pass')
})
