import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { type CacheMiss, createCacheWatch } from '../../src/inference/session/cache-watch.ts'

describe('The watch over prompt caches', () => {
  const told: CacheMiss[] = []
  let ms = 0
  const watch = createCacheWatch(
    (miss) => void told.push(miss),
    () => ms,
  )
  const prompt = 'x'.repeat(20_000)
  const turn = (
    text: string,
    cached_tokens: number,
    of: { id?: string | null; caller?: string; thread?: string } = {},
  ) => {
    const { id = 's1', caller = 'key_a', thread = null } = of
    watch({
      context: { callerId: caller, session: { ...NO_SESSION, session_id: id, thread_id: thread } },
      bytes: Buffer.from(text),
      callId: 'call_1',
      upstream: 'double',
      model: 'm',
      usage: { prompt_tokens: 5000, completion_tokens: 1, total_tokens: 5001, cached_tokens },
    })
    return told.splice(0)
  }

  it('tells where a request differs from the one before, once its cached tokens drop', () => {
    assert.deepEqual(turn(prompt, 4000), [])
    assert.deepEqual(turn(`${prompt} more`, 3900), [])
    const [miss] = turn(`${prompt.slice(0, 9000)}y${prompt.slice(9001)} more`, 100)
    assert.deepEqual(miss, {
      ...{ call_id: 'call_1', caller_id: 'key_a', session_id: 's1', upstream: 'double', model: 'm' },
      ...{ cached_before: 3900, cached_now: 100, differs_at: 8192, of_bytes: 20_005 },
    })
    turn(prompt, 4000)
    assert.equal(turn(prompt, 0)[0]?.differs_at, null)
  })

  it('compares the calls of one conversation alone', () => {
    turn(prompt, 4000)
    for (const other of [{ id: 's2' }, { caller: 'key_b' }, { thread: 't1' }, { id: null }, { id: 'trace:1' }])
      assert.deepEqual(turn('other', 0, other), [])
  })

  it('tells nothing once the provider may have forgotten the prompt, or when little was cached', () => {
    turn(prompt, 4000)
    ms += 300_001
    assert.deepEqual(turn(prompt, 0), [])
    turn(prompt, 1999)
    assert.deepEqual(turn(prompt, 0), [])
  })
})
