import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isSameTrace, readSteps, type TraceStep, writeSteps } from '../../src/gaze/trace.ts'

describe('a trace in the store', () => {
  const placed: TraceStep[] = [
    [0.1, 0.2, 240, 0],
    [0, 1, 60_000, 900],
    [0.5, 0.5, 150, 61_000],
  ]
  /** Someone who thinks for six minutes, and rests for seven. */
  const slow: TraceStep[] = [
    [null, null, 30_000, 0],
    [null, null, 420_000, 360_000],
    [null, null, 1_000, 1_200_000],
  ]

  for (const [name, steps] of Object.entries({ placed, slow }))
    it(`is the same one: ${name}`, () => {
      assert.ok(isSameTrace(steps, readSteps(writeSteps(steps))))
    })

  it('is another one where a rest has another place or another time', () => {
    const stored = readSteps(writeSteps(placed))
    const moved = placed.with(0, [0.15, 0.2, 240, 0])
    const longer = placed.with(0, [0.1, 0.2, 340, 0])
    for (const other of [moved, longer]) assert.ok(!isSameTrace(other, stored))
  })
})
