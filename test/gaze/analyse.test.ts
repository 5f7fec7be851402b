import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type AnalysedRecord, analyse, analyseRecords } from '../../src/gaze/analyse.ts'
import { longestHold } from '../doubles/longest-hold.ts'

/** SYNTHETIC records at as many places. */
const records = (count: number): AnalysedRecord[] =>
  Array.from({ length: count }, (_, i) => ({
    session_id: `session ${i % 3}`,
    tensor: JSON.stringify({
      at: new Date(Date.UTC(2026, 10, 21) + i * 200).toISOString(),
      dwell_ms: 180,
      source: 'eye_tracker',
      confidence: 0.9,
      cog: { focus: (i % 10) / 10, load: 0.4 },
      emo: { valence: 0, arousal: 0.2 },
      env: { path: `/project/${(i * 7919) % 19_997}`, x: (i % 97) / 97, y: (i % 89) / 89 },
    }),
  }))

describe('the analysis of many records', () => {
  it('is the same in a thread of its own, and does not block other requests', async () => {
    const many = records(20_000)
    const began = performance.now()
    const here = analyse(many)
    const took = performance.now() - began
    const hold = await longestHold(async () => assert.deepEqual(await analyseRecords(many), here))
    // Both on this machine as it is now; handing the records over takes some of it.
    assert.ok(hold < took / 2, `others waited for ${hold} ms; here it takes ${took} ms`)
  })

  it('is made at once of a few', () => {
    const few = records(3)
    assert.deepEqual(analyseRecords(few), analyse(few))
  })
})
