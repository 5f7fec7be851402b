import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as z from 'zod'
import type { GazewayError } from '../../src/errors.ts'
import { StoreGaze } from '../../src/gaze/gaze.ts'
import { RetrieveGaze } from '../../src/gaze/gaze-history.ts'
import { GazeRecord, GazeTensor, SentTensor } from '../../src/gaze/tensor.ts'
import { parseInput } from '../../src/wire/validation.ts'
import { humanStream } from './human-stream.ts'

const [valid] = humanStream(1, { records: 1 })

function faultsOf(change: object): string[] {
  const result = GazeTensor.safeParse({ ...valid, ...change })
  return (result.error?.issues ?? []).map((issue) => issue.path.join('.'))
}

describe('a gaze tensor', () => {
  it('is read with its time in UTC milliseconds', () => {
    assert.equal(GazeTensor.parse({ ...valid, at: '2026-11-21T09:17:52+02:00' }).at, '2026-11-21T07:17:52.000Z')
    assert.equal(GazeTensor.parse({ ...valid, at: '2026-11-21T07:17:52.1239Z' }).at, '2026-11-21T07:17:52.123Z')
  })

  it('has whole milliseconds of dwell', () => {
    assert.equal(GazeTensor.parse({ ...valid, dwell_ms: 231.4 }).dwell_ms, 231)
  })

  it('has a path without "./" before it, and is asked for so', () => {
    for (const [given, kept] of [
      ['./README.md', 'README.md'],
      ['././/src/a.ts', 'src/a.ts'],
      ['../a.ts', '../a.ts'],
      ['.env', '.env'],
      ['./', './'],
      ['.///', './//'],
      ['/p/./a.ts', '/p/./a.ts'],
    ] as const) {
      assert.equal(GazeTensor.parse({ ...valid, env: { path: given } }).env.path, kept)
      assert.equal(RetrieveGaze.parse({ path: given }).path, kept)
    }
  })

  it('may lack what was not measured; null says the same', () => {
    const { confidence: _, cog: __, emo: ___, ...bare } = valid as GazeTensor
    assert.deepEqual(SentTensor.parse(bare), bare)
    assert.deepEqual(SentTensor.parse({ ...bare, confidence: null, cog: null, emo: null }), bare)
    const partly = { ...bare, cog: { focus: 0.5 }, emo: { arousal: 0.1 } }
    assert.deepEqual(SentTensor.parse(partly), partly)
    const nulls = { ...bare, cog: { focus: 0.5, load: null }, emo: { valence: null, arousal: 0.1 } }
    assert.deepEqual(SentTensor.parse(nulls), partly)
    for (const other of [
      null,
      'gaze',
      [],
      { ...bare, env: null },
      { ...bare, dwell_ms: null },
      { ...bare, cog: [null] },
    ])
      assert.equal(SentTensor.safeParse(other).success, false, JSON.stringify(other))
  })

  it('is refused with the field at fault named', () => {
    for (const at of [
      'yesterday',
      '2026-02-30T00:00:00Z',
      '2026-11-21T07:17:52',
      '1969-12-31T23:59:59Z',
      '9999-12-31T23:59:59-14:00',
    ])
      assert.deepEqual(faultsOf({ at }), ['at'], at)
    assert.deepEqual(faultsOf({ dwell_ms: 60_001 }), ['dwell_ms'])
    assert.deepEqual(faultsOf({ dwell_ms: Number.NaN }), ['dwell_ms'])
    assert.deepEqual(faultsOf({ source: 'telepathy' }), ['source'])
    assert.deepEqual(faultsOf({ confidence: -0.1 }), ['confidence'])
    assert.deepEqual(faultsOf({ cog: { focus: 1.1, load: 0 } }), ['cog.focus'])
    assert.deepEqual(faultsOf({ emo: { valence: -1.1, arousal: 0 } }), ['emo.valence'])
    assert.deepEqual(faultsOf({ env: { x: 2 } }), ['env.x'])
    assert.deepEqual(faultsOf({ env: { path: 'a', line_start: 9, line_end: 3 } }), ['env.line_end'])
    assert.deepEqual(faultsOf({ env: { path: 'a', line_end: 3 } }), ['env.line_end'])
  })

  it('is refused with an unknown field, which is named', () => {
    const refusal = (change: object) => {
      try {
        return parseInput(GazeTensor, { ...valid, ...change })
      } catch (error) {
        return (error as GazewayError).param
      }
    }
    assert.equal(refusal({ mood: 'good' }), 'mood')
    assert.equal(refusal({ cog: { focus: 1, load: 0, depth: 1 } }), 'cog.depth')
    assert.equal(refusal({ emo: { valence: 0, arousal: 0, joy: 1 } }), 'emo.joy')
    assert.equal(refusal({ env: { file: 'src/a.ts' } }), 'env.file')
  })

  it('has a JSON Schema, as input and as a stored record', () => {
    assert.equal(z.toJSONSchema(GazeTensor, { io: 'input' }).type, 'object')
    assert.equal(z.toJSONSchema(GazeRecord).type, 'object')
  })
})

describe('the ids that gaze is stored under', () => {
  it('are text that the store keeps as it is', () => {
    const stored = (ids: object) => StoreGaze.safeParse({ records: [valid], ...ids }).success
    assert.ok(stored({ session_id: 'a 😀', task_id: 'task' }))
    for (const id of ['', 'x\0', '\ud83d']) {
      assert.ok(!stored({ session_id: id }))
      assert.ok(!stored({ task_id: id }))
    }
  })
})
