import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createInFlight } from '../../src/wire/in-flight.ts'

describe('things in flight', () => {
  it('are those that were added and not removed, in whatever order they end', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(), { freq: 2, nil: null })), (steps) => {
        const inFlight = createInFlight<number>()
        const expected = new Map<number, () => void>()
        for (const [index, step] of steps.entries())
          if (step === null) expected.set(index, inFlight.add(index))
          else {
            const keys = [...expected.keys()]
            const key = keys[step % keys.length]
            if (key === undefined) continue
            expected.get(key)?.()
            expected.delete(key)
          }
        const sorted = (all: Iterable<number>) => [...all].sort((a, b) => a - b)
        assert.deepEqual(sorted(inFlight.all()), sorted(expected.keys()))
      }),
    )
  })

  it('are removed once: a second removal takes nothing else away', () => {
    const inFlight = createInFlight<string>()
    const over = inFlight.add('first')
    inFlight.add('second')
    over()
    over()
    assert.deepEqual(inFlight.all(), ['second'])
  })
})
