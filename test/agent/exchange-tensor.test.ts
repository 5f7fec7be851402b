import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { exchangeTensor } from '../../src/agent/exchange-tensor.ts'
import { channelOf } from '../../src/agent/lexicon.ts'
import { classify, formatClassification } from '../../src/gaze/classification.ts'
import { humanStream } from '../gaze/human-stream.ts'

const NOW = new Date('2026-11-21T07:17:52.000Z')

describe("an exchange's tensor", () => {
  it('tells thinking, feeling and surroundings apart by the words', () => {
    for (const [text, tensor] of [
      ['Why does this test fail? I think the reason is logic.', 'COG:1.00/EMO:0.00/ENV:0.00'],
      ['Wow, wonderful! I love it, thank you 😀', 'COG:0.00/EMO:1.00/ENV:0.00'],
      ['https://x.org', 'COG:0.00/EMO:0.00/ENV:1.00'],
      ['', 'COG:0.34/EMO:0.33/ENV:0.33'],
      ['zzz 123', 'COG:0.34/EMO:0.33/ENV:0.33'],
    ] as const)
      assert.equal(exchangeTensor([text], [], NOW), tensor, text)
    assert.equal(
      exchangeTensor(['Why does this test fail?', 'Look at line 4 of a.ts.'], [], NOW),
      'COG:0.57/EMO:0.00/ENV:0.43',
    )
  })

  it('takes whole words, and what begins with the longer ones', () => {
    assert.deepEqual(['how', 'however', 'app', 'appreciated', 'deciding', 'screenshot', 'xyz'].map(channelOf), [
      'cog',
      null,
      'env',
      'emo',
      'cog',
      'env',
      null,
    ])
  })

  it('is that of the gaze where the text says nothing, and half of each while the gaze is new', () => {
    const gaze = humanStream(1, { records: 40 })
    const seen = classify(gaze)
    const last = new Date(Math.max(...gaze.map((record) => Date.parse(record.at) + record.dwell_ms)))
    assert.equal(exchangeTensor(['zzz'], gaze, last), formatClassification(seen))
    const cog = (later: number) => {
      const line = exchangeTensor(['why'], gaze, new Date(last.getTime() + later))
      return Number(line.slice(4, 8))
    }
    assert.ok(Math.abs(cog(0) - (1 + seen.cog) / 2) < 0.011, 'equal weights')
    assert.ok(Math.abs(cog(15 * 60_000) - (1 + seen.cog / 2) / 1.5) < 0.011, 'half the weight after 15 min')
    assert.equal(cog(86_400_000), 1)
  })

  it('has three shares that sum to 1, and is the same every time', () =>
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 4 }), (texts) => {
        const line = exchangeTensor(texts, [], NOW)
        assert.match(line, /^COG:[01]\.\d\d\/EMO:[01]\.\d\d\/ENV:[01]\.\d\d$/)
        const sum = line.split('/').reduce((total, share) => total + Math.round(100 * Number(share.slice(4))), 0)
        assert.equal(sum, 100)
        assert.equal(exchangeTensor(texts, [], NOW), line)
      }),
    ))
})
