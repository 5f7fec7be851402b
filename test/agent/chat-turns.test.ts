import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTurns } from '../../src/agent/chat-turns.ts'
import { GazewayError } from '../../src/errors.ts'

/** Work that ends when it is told to. */
function held(): { work: () => Promise<string>; end(): void; begun: Promise<void> } {
  let end = () => {}
  let begin = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  return {
    work: async () => {
      begin()
      await ended
      return 'done'
    },
    end: () => end(),
    begun,
  }
}

describe('turns', () => {
  it('come one at a time under a key, in the order of arrival, and at once under different ones', async () => {
    const turns = createTurns({ maxWaiting: 20, longestWaitMs: 5_000 })
    const first = held()
    const done: string[] = []
    const note = (name: string) => async () => void done.push(name)
    const running = [
      turns.run('a', undefined, first.work),
      ...['2', '3', '4'].map((name) => turns.run('a', undefined, note(name))),
    ]
    await turns.run('b', undefined, note('b'))
    assert.deepEqual(done, ['b'])
    first.end()
    await Promise.all(running)
    assert.deepEqual(done, ['b', '2', '3', '4'])
  })

  it('go on after work that fails', async () => {
    const turns = createTurns({ maxWaiting: 20, longestWaitMs: 5_000 })
    const failing = turns.run('a', undefined, () => Promise.reject(new Error('no')))
    const next = turns.run('a', undefined, async () => 'yes')
    await assert.rejects(failing, /no/)
    assert.equal(await next, 'yes')
  })

  it('are refused when too many wait, and given up after a time', async () => {
    const turns = createTurns({ maxWaiting: 2, longestWaitMs: 10 })
    const first = held()
    const running = turns.run('a', undefined, first.work)
    const waiting = [1, 2].map(() => turns.run('a', undefined, () => assert.fail('its time was over')))
    await assert.rejects(
      turns.run('a', undefined, async () => {}),
      { code: 'rate_limited', status: 429, retryAfterSeconds: 5 },
    )
    for (const late of waiting) await assert.rejects(late, { code: 'session_busy', status: 409 })
    first.end()
    assert.equal(await running, 'done')
    assert.equal(await turns.run('a', undefined, async () => 'free'), 'free')
  })

  it('are cancelled when their client disconnects, and let the others proceed', async () => {
    const turns = createTurns({ maxWaiting: 5, longestWaitMs: 5_000 })
    const first = held()
    const running = turns.run('a', undefined, first.work)
    const gone = new AbortController()
    const leaving = turns.run('a', gone.signal, () => assert.fail('gone'))
    const staying = turns.run('a', new AbortController().signal, async () => 'here')
    gone.abort()
    await assert.rejects(leaving, { code: 'cancelled' })
    await assert.rejects(
      turns.run('a', gone.signal, async () => {}),
      { code: 'cancelled' },
    )
    first.end()
    assert.equal(await staying, 'here')
    await running
  })

  it('are given up with the error that their signal is aborted with, before they wait and after', async () => {
    const turns = createTurns({ maxWaiting: 2, longestWaitMs: 5_000 })
    const stopping = new AbortController()
    const first = held()
    const running = turns.run('a', undefined, first.work)
    const ask = () => turns.run('a', stopping.signal, () => assert.fail('it was given up'))
    const waiting = ask()
    stopping.abort(new GazewayError('service_stopping', 'The service is stopping.'))
    await assert.rejects(waiting, { code: 'service_stopping' })
    await assert.rejects(ask(), { code: 'service_stopping' })
    first.end()
    await running
  })
})
