import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

const CHAT = '/chat/completions'
const ASK = { model: 'hedged', messages: [{ role: 'user', content: 'Say hello.' }], max_tokens: 100 }
/** A test waits as long as this where the hedge must come; where it must not, the delay of the route is longer than the test. */
const AFTER_MS = 50

describe('a hedged route', () => {
  let one: double.UpstreamDouble
  let two: double.UpstreamDouble
  let three: double.UpstreamDouble
  let running: RunningPlatform
  const all = () => [one, two, three]

  before(async () => {
    one = await double.startUpstream()
    two = await double.startUpstream()
    three = await double.startUpstream()
    running = await startPlatform(one.url, {
      document: {
        upstream: { timeout_ms: 5000 },
        // Longer than a test: the usage of overtaken answers is read when it comes.
        wallet: { read_on_ms: 60_000 },
        upstreams: {
          two: { provider: two.url, api_keys: ['key-of-two-number-1'], timeout_ms: 5000 },
          three: { provider: three.url, api_keys: ['key-of-three-1'], timeout_ms: 5000 },
          claude: { provider: three.url, protocol: 'anthropic', api_keys: ['key-of-claude-1'], timeout_ms: 5000 },
        },
        routes: [
          { model: 'hedged', to: ['default', 'two', 'three'], hedge_after_ms: AFTER_MS },
          { model: 'patient', to: ['default', 'two'], hedge_after_ms: 60_000 },
          { model: 'plain', to: ['default', 'two'] },
          { model: 'to-claude', to: ['default', 'claude'], hedge_after_ms: AFTER_MS },
        ],
      },
    })
  })
  beforeEach(() => {
    for (const upstream of all()) {
      upstream.received.length = 0
      upstream.on(CHAT, double.json(200, double.completion('Hello.')))
      upstream.on('/responses', double.json(200, double.response('Hello.')))
    }
  })
  after(async () => {
    await running.close()
    for (const upstream of all()) await upstream.close()
  })

  const newKey = async (input: object = {}) => {
    const { key, record } = await running.gateway.keys.create({ name: 'caller', scopes: ['inference'], ...input })
    return { key, id: record.id }
  }
  const post = (body: object, { key, path = CHAT, signal }: { key: string; path?: string; signal?: AbortSignal }) =>
    fetch(`${running.gatewayUrl}/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
  const callsOf = async (caller_id: string): Promise<CallRecord[]> =>
    (await running.gateway.calls.history({ caller_id, limit: 50 })).items
  /** The calls of a key, once there are so many. */
  const records = (id: string, many: number): Promise<CallRecord[]> =>
    until(async () => {
      const made = await callsOf(id)
      return made.length >= many && made
    })

  async function change(settings: object): Promise<void> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${running.admin}` }
    const changed = await fetch(`${running.url}/api/config`, {
      method: 'PATCH',
      headers,
      body: JSON.stringify(settings),
    })
    assert.equal(changed.status, 200, await changed.text())
  }

  const asked = () => all().map(({ received }) => received.length)
  const originOf = ({ headers }: Response) => [headers.get('x-gazeway-upstream'), headers.get('x-gazeway-attempts')]
  /** Reads what counts in the budgets of a key, in US dollars. */
  const countedFor = async (id: string): Promise<number> => {
    await running.gateway.calls.flush()
    const { items } = await running.gateway.keys.list({ limit: 1000 })
    return items.find((item) => item.id === id)?.spend.day_usd ?? 0
  }
  const chargedTo = async (id: string) => {
    const { items } = await running.gateway.wallet.usage({ caller_id: id, limit: 10 })
    return items.map(({ billing }) => billing.total_usd)
  }

  for (const stream of [false, true])
    it(`is answered by the second where the first is slow, which is ended${stream ? ', streamed' : ''}`, async () => {
      const { key, id } = await newKey()
      one.on(CHAT, double.hangs)
      two.on(CHAT, stream ? double.sse(double.chunks(['Hello.'])) : double.json(200, double.completion('Hello.')))
      const reply = await post({ ...ASK, stream }, { key })
      assert.equal(reply.status, 200)
      assert.match(await reply.text(), /"Hello\."/)
      assert.deepEqual(originOf(reply), ['two', '2'])
      await one.received[0]?.aborted
      assert.deepEqual(asked(), [1, 1, 0])
      const made = await records(id, 2)
      const [slow, quick] = ['hedged', 'ok'].map((status) => made.find((call) => call.status === status))
      assert.deepEqual([slow?.fallback_from, slow?.usage, slow?.upstream_cost_usd], [null, null, null])
      assert.match(slow?.error ?? '', /Another candidate answered first/)
      assert.deepEqual([quick?.upstream, quick?.fallback_from], ['two', slow?.call_id])
    })

  for (const stream of [false, true])
    it(`is answered by the first where that comes before the second, which is ended${stream ? ', streamed' : ''}`, async () => {
      const { key, id } = await newKey()
      one.on(CHAT, async (response, request) => {
        await until(() => two.received.length > 0)
        await (stream ? double.sse(double.chunks(['Hello.'])) : double.json(200, double.completion('Hello.')))(
          response,
          request,
        )
      })
      two.on(CHAT, double.hangs)
      const reply = await post({ ...ASK, stream }, { key })
      assert.match(await reply.text(), /"Hello\."/)
      assert.deepEqual(originOf(reply), [null, '2'].with(0, 'default'))
      await two.received[0]?.aborted
      const made = await records(id, 2)
      const [given, answered] = ['hedged', 'ok'].map((status) => made.find((call) => call.status === status))
      assert.deepEqual([given?.upstream, given?.fallback_from], ['two', answered?.call_id])
    })

  it('does not hedge when the first candidate replies in time, or when hedging is off', async () => {
    const { key } = await newKey()
    assert.deepEqual(originOf(await post({ ...ASK, model: 'patient' }, { key })), ['default', '1'])
    one.on(CHAT, async (response, request) => {
      await new Promise((resolve) => setTimeout(resolve, 4 * AFTER_MS))
      await double.json(200, double.completion('Hello.'))(response, request)
    })
    assert.deepEqual(originOf(await post({ ...ASK, model: 'plain' }, { key })), ['default', '1'])
    assert.deepEqual(asked(), [2, 0, 0])
  })

  it('asks the next at once where the first fails before the delay', async () => {
    const { key, id } = await newKey()
    one.on(CHAT, double.fails(503))
    const reply = await post({ ...ASK, model: 'patient' }, { key })
    assert.deepEqual(originOf(reply), ['two', '2'])
    assert.deepEqual((await records(id, 2)).map(({ status }) => status).sort(), ['error', 'ok'])
  })

  it('waits for the first where the second fails', async () => {
    const { key, id } = await newKey()
    one.on(CHAT, async (response, request) => {
      await until(async () => (await callsOf(id)).length > 0)
      await double.json(200, double.completion('Hello.'))(response, request)
    })
    two.on(CHAT, double.fails(500))
    const reply = await post(ASK, { key })
    assert.equal(reply.status, 200)
    assert.deepEqual(originOf(reply), ['default', '2'])
    assert.deepEqual((await records(id, 2)).map(({ status }) => status).sort(), ['error', 'ok'])
    assert.deepEqual(asked(), [1, 1, 0])
  })

  it('continues with the third when both fail, and returns the first error when all fail', async () => {
    const { key, id } = await newKey()
    const failsOnce = double.fails(504)
    one.on(CHAT, async (response, request) => {
      await until(() => two.received.length > 0)
      await failsOnce(response, request)
    })
    two.on(CHAT, double.fails(500))
    assert.deepEqual(originOf(await post(ASK, { key })), ['three', '3'])
    assert.deepEqual(asked(), [1, 1, 1], 'nobody is asked twice')
    two.received.length = 0
    three.on(CHAT, double.fails(503))
    const failed = await post(ASK, { key })
    assert.deepEqual([failed.status, failed.headers.get('x-gazeway-attempts')], [504, '3'])
    const made = await records(id, 6)
    assert.equal(made.filter(({ fallback_from }) => fallback_from === null).length, 2)
  })

  it('can still be answered by the one that was given up where the other breaks off before its first output', async () => {
    const { key } = await newKey()
    one.on(CHAT, async (response, request) => {
      await until(() => two.received.length > 0)
      await double.sse(double.chunks([], null).slice(0, 1), 'break')(response, request)
    })
    two.on(CHAT, double.hangs, double.sse(double.chunks(['Hello.'])))
    const reply = await post({ ...ASK, stream: true }, { key })
    assert.match(await reply.text(), /"Hello\."/)
    assert.deepEqual(originOf(reply), ['two', '3'])
    assert.deepEqual(asked(), [1, 2, 0])
  })

  it('is charged once, what the answer cost', async () => {
    const alone = await newKey({ billing: 'cost' })
    await post({ ...ASK, model: 'plain' }, { key: alone.key })
    const [price = 0] = await chargedTo(alone.id)
    assert.ok(price > 0, `${price}`)
    for (const stream of [false, true]) {
      const { key, id } = await newKey({ billing: 'cost' })
      // Both answer, and report their usage, before one of them can be ended.
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
      const behaviour = double.sse(double.chunks(['Hello.'], usage))
      let answer = () => {}
      const both = new Promise<void>((resolve) => {
        answer = resolve
      })
      for (const upstream of [one, two])
        upstream.on(CHAT, async (response, request) => {
          if (upstream === two) answer()
          await both
          await behaviour(response, request)
        })
      const reply = await post({ ...ASK, stream }, { key })
      assert.match(await reply.text(), /Hello\./)
      const made = await records(id, 2)
      assert.deepEqual(made.map(({ status }) => status).sort(), ['hedged', 'ok'])
      assert.ok(made.find(({ status }) => status === 'hedged')?.usage, 'the provider bills it, too')
      assert.deepEqual((await chargedTo(id)).toSorted(), [0, price], 'and the other is borne')
    }
  })

  it('counts what the provider of the slower one may bill, in budgets, and has no customer pay it', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
    /** Micro-dollars of the answer, at the flat price. */
    const answer = 3 * usage.total_tokens
    const slowUsage = { prompt_tokens: 10, completion_tokens: 70, total_tokens: 80 }
    /** The answer, whole or streamed as asked. */
    const says = (of: typeof usage): double.Behaviour => {
      const [streamed, whole] = [double.sse(double.chunks(['Hi.'], of)), double.json(200, double.completion('Hi.', of))]
      return (response, request) => {
        const { stream } = request.body as { stream: boolean }
        return (stream ? streamed : whole)(response, request)
      }
    }
    two.on(CHAT, says(usage))

    async function isCounted(
      stream: boolean,
      billing: 'recorded' | 'cost',
      slowly: 'answers' | 'hangs',
    ): Promise<void> {
      const what = JSON.stringify({ stream, billing, slowly })
      const credit = billing === 'cost' && { credit_limit_usd: 1 }
      const { key, id } = await newKey({ billing, limits: { budgets: [{ usd: 1, per: 'day' }], ...credit } })
      const reply = await post({ ...ASK, stream, user: what }, { key })
      await reply.text()
      assert.deepEqual(originOf(reply), ['two', '2'], what)
      goOn.get(what)?.()
      const slow = (await records(id, 2)).find(({ status }) => status === 'hedged')
      assert.equal(slow?.usage?.estimated ?? false, slowly === 'hangs', what)
      const isRight = (micros: number) =>
        // An estimate without an end counts as the second reservation, which is at most so much.
        slowly === 'hangs' ? micros > 0 && micros < 3 * 1000 : micros === 3 * slowUsage.total_tokens
      assert.ok(isRight(Math.round((slow?.upstream_cost_usd ?? 0) * 1e6)), `${what}: ${JSON.stringify(slow)}`)
      await until(async () => isRight(Math.round((await countedFor(id)) * 1e6) - answer))
      if (billing === 'cost') assert.deepEqual((await chargedTo(id)).toSorted(), [0, answer / 1e6], what)
    }
    /** Has the slow one answer, by the user that a request names. */
    const goOn = new Map<string, () => void>()
    one.on(CHAT, async (response, request) => {
      // Only once the client has the other's answer: it waits for none of this.
      await new Promise<void>((resolve) => goOn.set((request.body as { user: string }).user, resolve))
      await says(slowUsage)(response, request)
    })
    const all = (slowly: 'answers' | 'hangs') =>
      Promise.all(
        [false, true].flatMap((stream) => [isCounted(stream, 'recorded', slowly), isCounted(stream, 'cost', slowly)]),
      )
    await all('answers')
    await change({ 'wallet.read_on_ms': 50 })
    one.on(CHAT, double.hangs)
    await all('hangs')
    await change({ 'wallet.read_on_ms': 60_000 })
  })

  it('does not hedge when the credit does not cover a second call', async () => {
    const rich = await newKey({ billing: 'cost', limits: { credit_limit_usd: 1 } })
    const slowly: double.Behaviour = async (response, request) => {
      await new Promise((resolve) => setTimeout(resolve, 4 * AFTER_MS))
      await double.json(200, double.completion('Hello.'))(response, request)
    }
    one.on(CHAT, slowly)
    assert.deepEqual(originOf(await post(ASK, { key: rich.key })), ['two', '2'])
    // A call is reckoned with 400 to 500 tokens at 0.003 US dollars a thousand.
    for (const limits of [{ credit_limit_usd: 0.002 }, { budgets: [{ usd: 0.002, per: 'day' }] }]) {
      const { key, id } = await newKey({ billing: 'budgets' in limits ? 'recorded' : 'cost', limits })
      assert.deepEqual(originOf(await post(ASK, { key })), ['default', '1'], JSON.stringify(limits))
      assert.deepEqual(
        (await records(id, 1)).map(({ status }) => status),
        ['ok'],
      )
    }
  })

  it('never exceeds a budget, and releases its reservation', async () => {
    // Each costs 0.0009 US dollars, and is reckoned with less than 0.002.
    const used = { prompt_tokens: 200, completion_tokens: 100, total_tokens: 300 }
    const answer = double.json(200, double.completion('Hello.', used))
    two.on(CHAT, answer)
    one.on(CHAT, async (response, request) => {
      await new Promise((resolve) => setTimeout(resolve, 4 * AFTER_MS))
      await answer(response, request)
    })
    const { key, id } = await newKey({ limits: { budgets: [{ usd: 0.004, per: 'day' }] } })
    assert.deepEqual(originOf(await post(ASK, { key })), ['two', '2'])
    let answered = 1
    for (let some = 1; some > 0; answered += some) {
      const replies = await Promise.all(Array.from({ length: 3 }, () => post(ASK, { key })))
      for (const { status } of replies) assert.ok(status === 200 || status === 402, `${status}`)
      some = replies.filter(({ status }) => status === 200).length
    }
    assert.ok(answered >= 2, `${answered}`)
    const billed = (one.received.length + two.received.length) * 900
    await until(async () => Math.round((await countedFor(id)) * 1e6) === billed)
    assert.ok(billed <= 4000, `${billed} billed by both`)
  })

  it('reserves again for the next candidate where the first may be billed, or is refused', async () => {
    const content = 'Say hello, as often as you like. '.repeat(100)
    // Reserved are some 4,500 micro-dollars, of which a first attempt may cost 3,000.
    const ask = { ...ASK, model: 'plain', messages: [{ role: 'user', content }] }
    const used = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
    one.on(CHAT, double.drops)
    two.on(CHAT, double.json(200, double.completion('Hello.', used)))
    for (const billing of ['recorded', 'cost'] as const)
      for (const [usd, status] of [
        [0.02, 200],
        [0.006, 402],
      ] as const) {
        const { key, id } = await newKey({ billing, limits: { budgets: [{ usd, per: 'day' }], credit_limit_usd: 1 } })
        two.received.length = 0
        const reply = await post(ask, { key })
        const text = await reply.text()
        assert.equal(reply.status, status, text)
        if (status === 402) assert.match(text, /budget_reached.*is left of the budget per day/)
        assert.equal(two.received.length, status === 200 ? 1 : 0)
        const [answer = 0, failed = 0] = [status === 200 ? 3300 : 0, 1]
        await until(async () => Math.round((await countedFor(id)) * 1e6) > answer + failed)
        assert.ok((await countedFor(id)) <= usd)
        const { items } = await running.gateway.keys.list({ limit: 1000 })
        assert.equal(items.find((item) => item.id === id)?.debt_usd, 0)
      }
  })

  it('reserves nothing for the next candidate once its client has left', async () => {
    const { key, id } = await newKey({ limits: { budgets: [{ usd: 0.0095, per: 'day' }] } })
    // The first call holds what the second one lacks: it could wait for it for `wallet.wait_ms`.
    one.on(CHAT, double.hangs)
    const holding = new AbortController()
    const held = post({ ...ASK, model: 'plain', max_tokens: 1000 }, { key, signal: holding.signal }).catch(() => null)
    await until(() => one.received.length === 1)
    one.on(CHAT, double.drops)
    const leaving = new AbortController()
    const messages = [{ role: 'user', content: 'Say hello, as often as you like. '.repeat(100) }]
    const left = post({ ...ASK, model: 'plain', messages }, { key, signal: leaving.signal }).catch(() => null)
    await records(id, 1)
    leaving.abort()
    await left
    const refused = await until(async () => (await callsOf(id)).find(({ status }) => status === 'refused'))
    assert.match(refused.error ?? '', /Calls in flight hold the rest/)
    assert.equal((await callsOf(id)).length, 2, 'before the first call has ended')
    assert.deepEqual(asked(), [2, 0, 0])
    holding.abort()
    await held
  })

  it('ends both with its client', async () => {
    const { key, id } = await newKey()
    one.on(CHAT, double.hangs)
    two.on(CHAT, double.hangs)
    const leaving = new AbortController()
    const made = post(ASK, { key, signal: leaving.signal }).catch(() => null)
    await until(() => two.received.length > 0)
    leaving.abort()
    await made
    await one.received[0]?.aborted
    await two.received[0]?.aborted
    assert.deepEqual(
      (await records(id, 2)).map(({ status }) => status),
      ['aborted', 'aborted'],
    )
    assert.deepEqual(asked(), [1, 1, 0])
  })

  for (const [what, path, body] of [
    ['a chat that is stored', CHAT, { ...ASK, store: true }],
    [
      'a chat for which the provider runs tools',
      CHAT,
      { ...ASK, tools: [{ type: 'mcp', server_url: 'https://x.test' }] },
    ],
    ['a Response, which is stored unless it says otherwise', '/responses', { model: 'hedged', input: 'Hello?' }],
    [
      'a Response in the background',
      '/responses',
      { model: 'hedged', input: 'Hello?', store: false, background: true },
    ],
  ] as const)
    it(`does not hedge ${what}`, async () => {
      const { key } = await newKey()
      one.on(path, async (response, request) => {
        await new Promise((resolve) => setTimeout(resolve, 4 * AFTER_MS))
        await double.json(200, path === CHAT ? double.completion('Hello.') : double.response('Hello.'))(
          response,
          request,
        )
      })
      assert.equal((await post(body, { key, path })).status, 200)
      assert.deepEqual(asked(), [1, 0, 0])
    })

  it('asks another beside a Response that is not stored', async () => {
    const { key } = await newKey()
    one.on('/responses', double.hangs)
    const reply = await post({ model: 'hedged', input: 'Hello?', store: false }, { key, path: '/responses' })
    assert.deepEqual(originOf(reply), ['two', '2'])
  })

  it('does not hedge with an upstream whose circuit is open, whose keys cool down, or whose API cannot express the request', async () => {
    const { key } = await newKey()
    const slowly: double.Behaviour = async (response, request) => {
      await new Promise((resolve) => setTimeout(resolve, 4 * AFTER_MS))
      await double.json(200, double.completion('Hello.'))(response, request)
    }
    one.on(CHAT, slowly)
    assert.deepEqual(originOf(await post({ ...ASK, model: 'to-claude', n: 2 }, { key })), ['default', '1'])
    two.on(CHAT, double.drops)
    for (let i = 0; i < 10; i++) assert.equal((await post({ ...ASK, model: `two/${ASK.model}` }, { key })).status, 502)
    two.received.length = 0
    three.on(CHAT, double.fails(429, { 'retry-after': '30' }))
    one.on(CHAT, double.fails(503))
    await post(ASK, { key })
    three.received.length = 0
    one.on(CHAT, slowly)
    assert.deepEqual(originOf(await post(ASK, { key })), ['default', '1'])
    assert.deepEqual([two.received.length, three.received.length], [0, 0])
  })
})

it('keeps no call open that was slow twice, and had nobody to be hedged with at first', {
  timeout: 10_000,
}, async () => {
  const [one, two] = [await double.startUpstream(), await double.startUpstream()]
  const { gatewayUrl, gateway, close } = await startPlatform(one.url, {
    document: {
      upstreams: { two: { provider: two.url, api_keys: ['key-of-two-number-1'] } },
      routes: [{ model: 'hedged', to: ['default', 'two'], hedge_after_ms: AFTER_MS }],
    },
  })
  const limits = { budgets: [{ usd: 1, per: 'day' as const }] }
  const { key } = await gateway.keys.create({ name: 'caller', scopes: ['inference'], limits })
  const post = () =>
    fetch(`${gatewayUrl}/v1${CHAT}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(ASK),
    })
  const slowly =
    (behaviour: double.Behaviour): double.Behaviour =>
    async (response, request) => {
      await new Promise((resolve) => setTimeout(resolve, 4 * AFTER_MS))
      await behaviour(response, request)
    }
  one.on(CHAT, double.fails(500))
  two.on(CHAT, double.fails(429, { 'retry-after': '30' }))
  await post()
  one.on(CHAT, slowly(double.fails(500)))
  two.on(CHAT, slowly(double.json(200, double.completion('Hello.'))))
  assert.equal((await post()).status, 200)
  assert.deepEqual([one.received.length, two.received.length], [2, 2])
  // It waits for all calls, and for what is read on after them.
  await close()
  await Promise.all([one.close(), two.close()])
})
