import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Classification, classify, formatClassification } from '../../src/gaze/classification.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { shuffled, tensors } from './arbitrary.ts'
import { humanStream } from './human-stream.ts'

describe('classification', () => {
  it('has equal shares without records', () => {
    assert.deepEqual(classify([]), { dominant: 'COG', cog: 0.3334, emo: 0.3333, env: 0.3333 })
  })

  it('follows its formula', () => {
    const [first] = humanStream(1, { records: 1 })
    assert.ok(first)
    const calm = {
      ...first,
      cog: { focus: 0.8, load: 0.4 },
      emo: { valence: -0.2, arousal: 0.2 },
      env: { distraction: 0.4 },
    }
    assert.deepEqual(classify([calm]), { dominant: 'COG', cog: 0.6, emo: 0.2, env: 0.2 })
  })

  it('leaves out what was not measured', () => {
    const [record] = humanStream(1, { records: 1 }) as [GazeTensor]
    const { cog: _, emo: __, ...bare } = { ...record, env: { distraction: 0.2 } }
    const one = (channels: Partial<GazeTensor>) => classify([{ ...bare, ...channels }, bare])
    const whole = one({ cog: { focus: 0.4, load: 0.4 }, emo: { valence: -0.3, arousal: 0.3 } })
    assert.deepEqual(one({ cog: { focus: 0.4 }, emo: { valence: -0.3 } }), whole)
    assert.deepEqual(whole, { dominant: 'COG', cog: 0.5, emo: 0.375, env: 0.125 })
    assert.deepEqual(classify([bare]), { dominant: 'ENV', cog: 0, emo: 0, env: 1 })
  })

  it('is led by the surroundings when attention keeps changing places', () => {
    const restless = humanStream(1, { records: 20 }).map((record, i) => ({
      ...record,
      cog: { focus: 0.2, load: 0.2 },
      emo: { valence: 0, arousal: 0.1 },
      env: { path: `${i}` },
    }))
    assert.equal(classify(restless).dominant, 'ENV')
  })

  it('is written in one line', () => {
    const line = formatClassification({ dominant: 'COG', cog: 0.6183, emo: 0.1401, env: 0.2416 })
    assert.equal(line, 'COG:0.62/EMO:0.14/ENV:0.24')
    assert.equal(formatClassification(classify([])), 'COG:0.34/EMO:0.33/ENV:0.33')
  })
})

describe('classification of any records', () => {
  it('has shares that sum to exactly one, led by the dominant channel', () => {
    fc.assert(
      fc.property(tensors, (records) => {
        const result = Classification.parse(classify(records))
        const parts = [result.cog, result.emo, result.env].map((share) => Math.round(share * 10_000))
        assert.equal(
          parts.reduce((sum, part) => sum + part, 0),
          10_000,
        )
        const lead = { COG: result.cog, EMO: result.emo, ENV: result.env }[result.dominant]
        assert.equal(lead, Math.max(result.cog, result.emo, result.env))
      }),
    )
  })

  it('is written with two decimals that sum to exactly one', () => {
    fc.assert(
      fc.property(tensors, (records) => {
        const line = formatClassification(classify(records))
        const found = /^COG:(\d\.\d\d)\/EMO:(\d\.\d\d)\/ENV:(\d\.\d\d)$/.exec(line)
        assert.ok(found, line)
        const hundredths = found.slice(1).reduce((sum, share) => sum + Math.round(Number(share) * 100), 0)
        assert.equal(hundredths, 100, line)
      }),
    )
  })

  it('does not depend on the order of the records', () => {
    fc.assert(fc.property(shuffled, ([one, other]) => assert.deepEqual(classify(one), classify(other))))
  })
})
