import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { type CacheMiss, createCacheWatch } from '../../src/inference/session/cache-watch.ts'
import { changedPart, startOf } from '../../src/inference/session/prompt-start.ts'

/** Tokens of a call, and what else differs between calls. */
interface Turn {
  cached?: number
  written?: number
  prompt?: number
  id?: string | null
  caller?: string
  thread?: string
  json?: object
}

it('The start of a prompt is read however deep its fields nest', () => {
  const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
  const body = { instructions: deep, system: [{ text: deep }], tools: [{ name: deep }], messages: [{ role: 'system' }] }
  assert.equal(changedPart(startOf(body), startOf({ ...body, instructions: 'Be brief.' })), 'instructions')
})

describe('The watch over prompt caches', () => {
  const told: CacheMiss[] = []
  let ms = 0
  const watch = createCacheWatch(
    (miss) => void told.push(miss),
    () => ms,
  )
  const prompt = 'x'.repeat(20_000)
  /** Makes a call. Returns what it lost, and what the log says of it. */
  function turn(text: string, of: Turn) {
    const { cached = 0, written = 0, id = 's1', caller = 'key_a', thread = null, json = {} } = of
    const { prompt: prompt_tokens = 5000 } = of
    const usage = { prompt_tokens, completion_tokens: 1, total_tokens: prompt_tokens + 1 }
    const loss = watch({
      context: { callerId: caller, session: { ...NO_SESSION, session_id: id, thread_id: thread } },
      request: { bytes: Buffer.from(text), json: { ...json } },
      callId: 'call_1',
      upstream: 'double',
      model: 'm',
      usage: { ...usage, cached_tokens: cached, cache_write_tokens: written },
    })
    return { loss, told: told.splice(0) }
  }
  const none = { loss: null, told: [] }

  it('tells where a request differs from the one before, once its cached tokens drop', () => {
    assert.deepEqual(turn(prompt, { cached: 4000 }), none)
    assert.deepEqual(turn(`${prompt} more`, { cached: 3900 }), { loss: { tokens: 100, changed: null }, told: [] })
    const { loss, told: misses } = turn(`${prompt.slice(0, 9000)}y${prompt.slice(9001)} more`, { cached: 100 })
    assert.deepEqual(loss, { tokens: 3800, changed: null })
    assert.deepEqual(misses, [
      {
        ...{ call_id: 'call_1', caller_id: 'key_a', session_id: 's1', upstream: 'double', model: 'm' },
        ...{ cached_before: 3900, cached_now: 100, changed: null, differs_at: 8192, of_bytes: 20_005 },
      },
    ])
    turn(prompt, { cached: 4000 })
    assert.equal(turn(prompt, {}).told[0]?.differs_at, null)
  })

  it('counts what was written as cached, and at most the prompt as missed', () => {
    turn(prompt, { id: 's3', cached: 1000, written: 3500 })
    assert.deepEqual(turn(prompt, { id: 's3', cached: 500, prompt: 4200 }).loss, { tokens: 3700, changed: null })
  })

  it('names the part at the beginning of the prompt that a client has changed', () => {
    const named = (...names: string[]) => ({ tools: names.map((name) => ({ type: 'function', function: { name } })) })
    const billed = (words: string) => ({
      system: [{ text: `x-anthropic-billing-header: ${words}` }, { text: 'Rules.' }],
    })
    const cases: [string, object, object, string | null][] = [
      ['other order', named('a', 'b'), named('b', 'a'), 'tools'],
      ['Messages', { tools: [{ name: 'a' }] }, { tools: [{ name: 'b' }] }, 'tools'],
      ['same tools', named('a', 'b'), named('a', 'b'), null],
      ['system', { system: 'It is 9:00.' }, { system: 'It is 9:01.' }, 'instructions'],
      [
        'chat',
        { messages: [{ role: 'system', content: 'a' }] },
        { messages: [{ role: 'system', content: 'b' }] },
        'instructions',
      ],
      ['responses', { instructions: 'a' }, { instructions: 'b' }, 'instructions'],
      [
        'later turns',
        { messages: [{ role: 'user', content: 'a' }] },
        { messages: [{ role: 'user', content: 'b' }] },
        null,
      ],
      ['billing', billed('cch=1'), billed('cch=2'), null],
    ]
    for (const [id, before, json, changed] of cases) {
      turn(prompt, { id, written: 4000, json: before })
      assert.deepEqual(turn(prompt, { id, json }).loss, { tokens: 4000, changed }, id)
      // A provider that does not tell what it writes.
      turn(prompt, { id: `${id} unread`, json: before })
      const { loss, told: misses } = turn(prompt, { id: `${id} unread`, json })
      assert.deepEqual([loss, misses.length], changed === null ? [null, 0] : [{ tokens: 0, changed }, 1], id)
    }
  })

  it('compares the calls of one conversation alone, and not with short prompts in between', () => {
    turn(prompt, { cached: 4000 })
    for (const other of [{ id: 's2' }, { caller: 'key_b' }, { thread: 't1' }, { id: null }, { id: 'trace:1' }])
      assert.deepEqual(turn('other', other), none)
    assert.deepEqual(turn('Name it.', { prompt: 300 }), none)
    assert.deepEqual(turn(prompt, {}).loss, { tokens: 4000, changed: null })
  })

  it('tells nothing once the provider may have forgotten the prompt, or when little was cached', () => {
    turn(prompt, { cached: 4000 })
    ms += 300_001
    assert.deepEqual(turn(prompt, {}), none)
    turn(prompt, { cached: 1999 })
    assert.deepEqual(turn(prompt, {}), { loss: { tokens: 1999, changed: null }, told: [] })
  })
})
