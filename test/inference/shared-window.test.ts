import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import {
  EMPTY_WINDOW,
  type RateLimits,
  type RateRefusal,
  type SharedWindow,
  type TurnResult,
  takeTurn,
  type WindowTurn,
} from '../../src/inference/rates/shared-window.ts'

const TERMS = { windowMs: 60_000, usableMs: 300, leaseMs: 45_000 }
const NO_LIMITS: RateLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrent: null }
const ONE = { prompt: 0, answer: 0 }

/** A key whose processes take turns at times of a clock. */
function newKey(limits: Partial<RateLimits>) {
  let window: SharedWindow = EMPTY_WINDOW
  let turns = 0
  return {
    window: () => window,
    take(at: number, turn: Partial<WindowTurn>): TurnResult {
      const taken = takeTurn(
        window,
        {
          holder: 'one',
          turn: ++turns,
          limits: { ...NO_LIMITS, ...limits },
          refunds: [],
          overrun: 0,
          answered: null,
          inFlight: { places: 0, tokens: 0 },
          calls: [],
          spare: { requests: 0, tokens: 0, places: 0 },
          patienceMs: 500,
          ...turn,
        },
        at,
        TERMS,
      )
      window = JSON.parse(JSON.stringify(taken.window))
      return taken.result
    },
  }
}
const calls = (count: number, tokens = ONE) => Array.from({ length: count }, () => tokens)
const granted = ({ calls }: TurnResult) => calls.filter((outcome) => typeof outcome === 'number').length
const refusal = ({ calls }: TurnResult) => calls.find((outcome): outcome is RateRefusal => typeof outcome !== 'number')

it('has no more in any minute than the limit, and at least 95 % of it for a client that always asks', () => {
  const gaps = fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 100, maxLength: 200 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), gaps, (limit, waits) => {
      const key = newKey({ requestsPerMinute: limit })
      const taken: [at: number, count: number][] = []
      let at = 1_000_000
      for (const [i, wait] of waits.entries()) {
        at += wait
        taken.push([at, granted(key.take(at, { holder: `${i % 4}`, calls: calls(200) }))])
      }
      const within = (from: number, ms: number) =>
        taken.reduce((sum, [time, count]) => sum + (time >= from && time < from + ms ? count : 0), 0)
      for (const [from] of taken) assert.ok(within(from, TERMS.windowMs) <= limit)
      const [[first]] = taken as [[number, number]]
      const windows = Math.floor((at - first) / (TERMS.windowMs + 6000))
      assert.ok(within(first, at - first + 1) >= windows * limit)
    }),
    { numRuns: 20 },
  )
})

it('tells when a refused call fits, and when the whole limit is free again', () => {
  const key = newKey({ requestsPerMinute: 3 })
  key.take(0, { calls: calls(2) })
  key.take(20_000, { calls: calls(1) })
  const refused = key.take(30_000, { calls: calls(3) })
  const waits = refused.calls.map((outcome) => (outcome as RateRefusal).retryMs)
  assert.deepEqual([waits, refused.resetMs.requests], [[30_300, 30_300, 30_300], 50_300])
  assert.equal(granted(key.take(60_299, { calls: calls(1) })), 0)
  assert.equal(granted(key.take(60_300, { calls: calls(3) })), 2)
})

it('lets those wait that soon fit, and no others with them', () => {
  const key = newKey({ requestsPerMinute: 2 })
  key.take(0, { calls: calls(1) })
  key.take(10_000, { calls: calls(1) })
  const { calls: outcomes } = key.take(60_000, { calls: calls(3) })
  assert.deepEqual(
    outcomes.map((outcome) => (outcome as RateRefusal).retryMs),
    [300, 10_300, 10_300],
  )
})

it('reserves a whole answer, and the rest of the limit where a long recent answer fits', () => {
  const key = newKey({ tokensPerMinute: 1000 })
  const call = { prompt: 10, answer: 600 }
  const first = key.take(0, { calls: calls(2, call) })
  assert.deepEqual([first.calls[0], refusal(first)?.by, refusal(first)?.isHeld], [610, 'tokens', true])
  const refunds = [{ n: first.n, requests: 0, tokens: 510 }]
  const second = key.take(1000, { refunds, answered: 90, calls: calls(2, call) })
  assert.deepEqual([second.calls[0], second.calls[1], second.left.tokens], [610, 290, 0])
  const large = newKey({ tokensPerMinute: 1000 })
  assert.deepEqual(large.take(0, { calls: calls(1, { prompt: 10, answer: 32_000 }) }).calls, [1000])
  const never = refusal(large.take(70_000, { calls: calls(1, { prompt: 2000, answer: 1 }) }))
  assert.deepEqual([never?.by, never?.retryMs], ['tokens', TERMS.windowMs])
})

it('counts tokens beyond the reservation', () => {
  const key = newKey({ tokensPerMinute: 1000 })
  key.take(0, { calls: calls(1, { prompt: 10, answer: 90 }) })
  assert.equal(key.take(1000, { overrun: 5000 }).left.tokens, -4100)
  assert.equal(granted(key.take(2000, { calls: calls(1, { prompt: 1, answer: 1 }) })), 0)
})

it('gives nothing back twice when a turn is sent again', () => {
  const key = newKey({ requestsPerMinute: 10 })
  const { n } = key.take(0, { turn: 1, calls: calls(6) })
  const again = { turn: 2, refunds: [{ n, requests: 2, tokens: 0 }] }
  assert.deepEqual([key.take(0, again).left.requests, key.take(0, again).left.requests], [6, 6])
})

it('holds few for further calls: 1 % of the requests, none of a small limit, and an eighth of the places', () => {
  const spare = { requests: 500, tokens: 0, places: 500 }
  const large = newKey({ requestsPerMinute: 1000, concurrent: 1000 }).take(0, { calls: calls(1), spare })
  assert.deepEqual([large.spare.requests, large.places], [10, 125])
  const small = newKey({ requestsPerMinute: 99, concurrent: 99 }).take(0, { calls: calls(1), spare })
  assert.deepEqual([small.spare.requests, small.places], [0, 13])
})

it('gives the places of a process that is silent to others', () => {
  const key = newKey({ concurrent: 3 })
  key.take(0, { calls: calls(3) })
  const other = { holder: 'two', calls: calls(1) }
  assert.equal(refusal(key.take(44_999, other))?.by, 'concurrent')
  assert.equal(granted(key.take(45_000, other)), 1)
})

it('lets no time pass when the clock of the store is set back', () => {
  const key = newKey({ requestsPerMinute: 2, concurrent: 2 })
  const DAY_MS = 86_400_000
  key.take(DAY_MS, { calls: calls(2) })
  const refused = key.take(0, { holder: 'two', calls: calls(1) })
  assert.deepEqual([granted(refused), refusal(refused)?.retryMs], [0, 60_300])
  assert.equal(granted(key.take(60_300, { calls: calls(2) })), 2)
  // Processors differ by a moment.
  key.take(60_000, {})
  assert.equal(key.window().at, 60_300)
})
