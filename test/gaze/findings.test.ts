import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Finding, findFindings } from '../../src/gaze/findings.ts'
import { computeMetrics } from '../../src/gaze/gaze-metrics.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { tensors } from './arbitrary.ts'
import { humanStream, randomOf } from './human-stream.ts'

function kindsOf(records: GazeTensor[]): string[] {
  return findFindings(computeMetrics(records)).map((finding) => finding.kind)
}

function stream(change: (record: GazeTensor, i: number) => Partial<GazeTensor>, records = 60): GazeTensor[] {
  return humanStream(3, { records }).map((record, i) => ({ ...record, ...change(record, i) }))
}

describe('findings', () => {
  it('say that there is nothing to say without records', () => {
    assert.deepEqual(kindsOf([]), ['no_data'])
  })

  it('warn when there is little data', () => {
    assert.ok(kindsOf(humanStream(1, { records: 5 })).includes('little_data'))
  })

  it('name the place that had most of the attention', () => {
    const [finding] = findFindings(computeMetrics(stream(() => ({ env: { path: 'src/a "b"\n.ts' } }))))
    assert.equal(finding?.kind, 'concentrated')
    assert.match(finding?.text ?? '', /^100% of the attention \(\d+\.\d s\) was on "src\/a \\"b\\"\\n\.ts"\.$/)
    assert.equal(finding?.evidence.share, 1)
  })

  it('see attention scattered, and attention going back and forth', () => {
    const random = randomOf(5)
    assert.ok(kindsOf(stream(() => ({ env: { path: `${Math.floor(random() * 6)}` } }), 300)).includes('scattered'))
    assert.ok(kindsOf(stream((_, i) => ({ env: { path: i % 2 ? 'a.ts' : 'a.test.ts' } }))).includes('back_and_forth'))
  })

  it('see focus falling and load rising', () => {
    const tiring = stream((_, i) => ({ cog: { focus: 0.9 - i / 100, load: 0.2 + i / 100 } }))
    const kinds = kindsOf(tiring)
    assert.ok(kinds.includes('focus_falling') && kinds.includes('load_rising'), kinds.join())
  })

  it('see high load, low focus and strain', () => {
    const stuck = stream(() => ({ cog: { focus: 0.1, load: 0.9 }, emo: { valence: -0.6, arousal: 0.8 } }))
    const kinds = kindsOf(stuck)
    assert.ok(
      ['load_high', 'focus_low', 'strained'].every((kind) => kinds.includes(kind)),
      kinds.join(),
    )
  })

  it('see long and short fixations', () => {
    assert.ok(kindsOf(stream(() => ({ dwell_ms: 600, env: {} }))).includes('long_fixations'))
    assert.ok(kindsOf(stream(() => ({ dwell_ms: 120, env: {} }))).includes('short_fixations'))
  })

  it('fit their schema for any records', () => {
    fc.assert(
      fc.property(tensors, (records) => {
        for (const finding of findFindings(computeMetrics(records))) Finding.parse(finding)
      }),
    )
  })
})
