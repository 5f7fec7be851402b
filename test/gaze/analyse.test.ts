import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type AnalysedRecord, analyse, analyseRecords } from '../../src/gaze/analyse.ts'
import { turnsDuring } from '../doubles/turns.ts'

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
    const here = analyse(many)
    let there: typeof here | undefined
    const turns = await turnsDuring(async () => {
      there = await analyseRecords(many)
    })
    assert.deepEqual(there, here)
    assert.ok(turns > 100, `${turns} turns`)
  })

  it('is made at once of a few', () => {
    const few = records(3)
    assert.deepEqual(analyseRecords(few), analyse(few))
  })
})
