import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { GazeAnalysis } from '../../src/gaze/analyse.ts'
import { narrate } from '../../src/gaze/narrate.ts'

const analysisOf = (records: number) => ({ metrics: { records, dwell_by_place: [] } }) as unknown as GazeAnalysis

describe('an analysis in words', () => {
  it('asks no model about no records, and says why', async () => {
    const told = await narrate(analysisOf(0), undefined, async () => assert.fail('a model was asked'))
    assert.deepEqual([told.narrative, told.call_id], [null, null])
    assert.match(told.narrative_error ?? '', /no gaze records/)
  })

  it('says that the model said nothing, and in which call', async () => {
    const told = await narrate(analysisOf(5), undefined, async () => ({ text: '', callId: 'call_1' }))
    assert.deepEqual([told.narrative, told.call_id], [null, 'call_1'])
    assert.match(told.narrative_error ?? '', /without a text/)
  })
})
