import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createTrackerPositions } from '../../adapters/review/tracker-positions.ts'

it('Positions of a tracker count from the time on that it is opened, and end when it is closed', () => {
  const tracker = createTrackerPositions()
  const { token, next } = tracker.open()
  tracker.add({ positions: [{ x: 0.1, y: 0.1 }] }, 1000)
  assert.deepEqual(tracker.since(next), { positions: [{ at: 1000, x: 0.1, y: 0.1 }], next: 1 })
  tracker.close()
  assert.equal(tracker.isToken(token), false)
  // What was let in before the end may arrive after it.
  tracker.add({ positions: [{ x: 0.9, y: 0.9 }] }, 2000)
  const again = tracker.open()
  assert.equal(again.token, token)
  assert.deepEqual(tracker.since(again.next).positions, [])
  assert.deepEqual(tracker.since(0).positions, [])
  tracker.add({ positions: [{ x: 0.2, y: 0.2 }] }, 3000)
  assert.deepEqual(tracker.since(again.next).positions, [{ at: 3000, x: 0.2, y: 0.2 }])
})
