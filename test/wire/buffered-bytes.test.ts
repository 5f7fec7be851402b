import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type BufferedBytes, createBufferedBytes } from '../../src/wire/buffered-bytes.ts'

const LIMIT = 1200
const refused = { code: 'too_many_bodies', retryAfterSeconds: 2 }

describe('bytes of request bodies in memory', () => {
  /** Takes single bytes until there is no room. */
  function fill(buffered: BufferedBytes, callerId: string | null, request: object = {}): number {
    for (let taken = 0; ; taken++)
      try {
        buffered.take({ request: taken % 2 ? request : {}, callerId }, 1)
      } catch (error) {
        assert.equal((error as { code: string }).code, 'too_many_bodies')
        return taken
      }
  }

  it('leave a caller at most half, and the next one always room', () => {
    const buffered = createBufferedBytes(() => LIMIT)
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((callerId) => fill(buffered, callerId)),
      [LIMIT / 2, LIMIT / 4, LIMIT / 8, LIMIT / 16],
    )
  })

  it('of requests without a key are those of one caller', () => {
    const buffered = createBufferedBytes(() => LIMIT)
    assert.equal(fill(buffered, null), LIMIT / 2)
    assert.throws(() => buffered.requireRoom({ request: {}, callerId: null }, 1), refused)
    buffered.requireRoom({ request: {}, callerId: 'a' }, LIMIT / 4)
  })

  it('of a body that would not fit alone are refused as too many', () => {
    const buffered = createBufferedBytes(() => LIMIT)
    const owner = { request: {}, callerId: 'a' }
    assert.throws(() => buffered.requireRoom(owner, LIMIT / 2 + 1), { code: 'payload_too_large' })
    buffered.take(owner, LIMIT / 2)
    assert.throws(() => buffered.take(owner, 1), { code: 'payload_too_large' })
  })

  it('are all given back', () => {
    const step = fc.record({
      request: fc.nat(5),
      caller: fc.constantFrom('a', 'b', null),
      bytes: fc.nat(LIMIT),
      ends: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const buffered = createBufferedBytes(() => LIMIT)
        const requests = ['a', 'b', null].flatMap((callerId) =>
          [0, 1, 2, 3, 4, 5].map((number) => ({ number, callerId, request: {} })),
        )
        for (const { request, caller, bytes, ends } of steps) {
          const owner = requests.find((one) => one.number === request && one.callerId === caller) ?? assert.fail()
          if (ends) buffered.release(owner.request)
          else
            try {
              buffered.take(owner, bytes)
            } catch {}
        }
        for (const { request } of requests) buffered.release(request)
        buffered.requireRoom({ request: {}, callerId: 'a' }, LIMIT / 2)
      }),
    )
  })
})
