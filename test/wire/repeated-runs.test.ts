import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createListeners } from '../../src/wire/listeners.ts'
import { createRepeated, restingRun, sharedRun } from '../../src/wire/repeated-runs.ts'

const fail = (error: unknown) => assert.fail(String(error))

describe('repeated work', () => {
  it('shares a run between callers, and begins a new one afterwards', async () => {
    let runs = 0
    const shared = sharedRun(async () => ++runs)
    assert.deepEqual(await Promise.all([shared(), shared()]), [1, 1])
    assert.equal(await shared(), 2)
  })

  it('rests for a multiple of the time that it took, and keeps no failure', async () => {
    let now = 0
    let takes = 10
    let runs = 0
    const resting = restingRun(
      async () => {
        now += takes
        if (takes === 0) throw new Error('broken')
        return ++runs
      },
      { times: 50, atMostMs: 1_000 },
      () => now,
    )
    assert.deepEqual(await Promise.all([resting(), resting()]), [1, 1])
    now = 509
    assert.equal(await resting(), 1)
    now = 510
    takes = 1
    assert.equal(await resting(), 2)
    now = 561
    takes = 0
    await assert.rejects(resting(), /broken/)
    takes = 60_000
    assert.equal(await resting(), 3)
    // A run that hung.
    takes = 1
    now += 999
    assert.equal(await resting(), 3)
    now += 1
    assert.equal(await resting(), 4)
  })

  it('never runs twice at once, and stops after the run in flight', async () => {
    let running = 0
    let ended = 0
    const work = createRepeated(
      async () => {
        assert.equal(++running, 1)
        await new Promise((resolve) => setTimeout(resolve, 20))
        running--
        ended++
      },
      { everyMs: 1, onError: fail },
    )
    work.start()
    void work.run()
    await work.stop()
    assert.deepEqual([running, ended], [0, 1])
  })

  it('continues after a failed run', async () => {
    const errors: unknown[] = []
    const work = createRepeated(() => Promise.reject(new Error('broken')), {
      everyMs: 1,
      onError: (error) => errors.push(error),
    })
    await work.run()
    await work.run()
    assert.equal(errors.length, 2)
  })
})

describe('listeners', () => {
  it('tell the others when one fails, and nothing to one that was removed', () => {
    const errors: unknown[] = []
    const heard: string[] = []
    const listeners = createListeners<[word: string]>((error) => errors.push(error))
    listeners.add(() => {
      throw new Error('broken')
    })
    const remove = listeners.add((word) => heard.push(word))
    listeners.tell('one')
    remove()
    listeners.tell('two')
    assert.deepEqual([heard, errors.length, listeners.count()], [['one'], 2, 1])
  })
})
