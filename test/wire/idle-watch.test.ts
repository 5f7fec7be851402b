import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { watchSilence } from '../../src/wire/idle-watch.ts'

describe('the watch over silence', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  /** Lets time pass in steps that are shorter than the pause between looks. */
  function pass(ms: number): void {
    for (let passed = 0; passed < ms; passed += 10) mock.timers.tick(10)
  }

  it('reports silence after the limit, never before, and at most a twentieth later', () => {
    const watch = watchSilence(1000)
    const told: string[] = []
    const first = watch.begin(() => told.push('first'))
    pass(30)
    watch.begin(() => told.push('second'))
    pass(960)
    assert.equal(told.length, 0)
    watch.heard(first)
    pass(120)
    assert.deepEqual(told, ['second', 'second'], 'at each look')
    pass(860)
    assert.ok(!told.includes('first'))
    pass(70)
    assert.ok(told.includes('first'))
  })

  it('looks at least once a second where the limit is long', () => {
    const watch = watchSilence(120_000)
    let told = false
    watch.begin(() => {
      told = true
    })
    pass(119_990)
    assert.equal(told, false)
    pass(1020)
    assert.equal(told, true)
  })

  it('forgets ended waits in any order, and continues after a pause', () => {
    const watch = watchSilence(1000)
    const told = new Set<number>()
    const waits = Array.from({ length: 5 }, (_, i) => watch.begin(() => told.add(i)))
    for (const i of [1, 4, 0]) watch.end(waits[i] ?? assert.fail())
    pass(1100)
    assert.deepEqual([...told].sort(), [2, 3])
    for (const i of [3, 2]) watch.end(waits[i] ?? assert.fail())
    pass(5000)
    watch.begin(() => told.add(9))
    pass(990)
    assert.ok(!told.has(9))
    pass(70)
    assert.deepEqual([...told].sort(), [2, 3, 9])
  })

  it('accepts the end of one wait while another is reported', () => {
    const watch = watchSilence(1000)
    const waits = Array.from({ length: 4 }, () => watch.begin(end))
    let ended = 0
    function end(): void {
      const next = waits.shift()
      if (next === undefined) return
      ended++
      watch.end(next)
    }
    pass(1100)
    assert.equal(ended, 4)
  })
})
