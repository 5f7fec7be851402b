import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { ask, errorOf, type RunningPlatform, startPlatform } from '../adapters/platform.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'

interface PlannedTask {
  id: string
  title: string
  description: string
  capabilities: string[]
  depends_on: string[]
  reward_usd: number
  status?: string
  escrow_id?: string | null
}
interface Swarm {
  swarm_id: string | null
  goal: string
  tasks: PlannedTask[]
  edges: [string, string][]
  order: string[]
  call_id: string
}
interface Sent {
  messages: { role: string; content: string }[]
  response_format?: { type: string; json_schema: { strict: boolean; schema: unknown } }
}

const GOAL = { goal: 'Write the report.' }
const task = (id: string, depends_on: string[] = [], more: object = {}) => ({
  id,
  title: `Do ${id}`,
  description: `All of ${id}.`,
  capabilities: ['writing'],
  depends_on,
  ...more,
})
const plan = (...tasks: object[]) => double.json(200, double.completion(JSON.stringify({ tasks })))
const says = (text: string) => double.json(200, double.completion(text))
const GOOD = plan(task('c', ['a', 'b']), task('a'), task('b', ['a']))

/**
 * Tests of swarms, for every engine.
 *
 * @param storeUrl a new, empty store; undefined is the default one
 */
export function swarmContract(name: string, storeUrl: () => Promise<string | undefined>): void {
  describe(`swarms on ${name}`, () => {
    let upstream: double.UpstreamDouble
    let running: RunningPlatform
    before(async () => {
      upstream = await double.startUpstream()
      const url = await storeUrl()
      running = await startPlatform(upstream.url, {
        env: url === undefined ? {} : { GAZEWAY_STORE: url },
        document: { upstream: { max_retries: 0, timeout_ms: 2000 } },
        withHttp: false,
      })
      // What plans cost is another test's: here is only what tasks lock.
      await running.gateway.keys.change(running.keyId, { billing: 'recorded' })
    })
    beforeEach(() => {
      upstream.received.length = 0
    })
    after(async () => {
      await running.close()
      await upstream.close()
    })

    const create = (body: object, headers: Record<string, string> = {}) =>
      ask(running, 'POST', '/api/tasks/swarm', { body: { ...GOAL, ...body }, headers })
    const created = async (body: object): Promise<Swarm> => {
      const reply = await create(body)
      assert.equal(reply.status, 200, await reply.clone().text())
      return (await reply.json()) as Swarm
    }
    const total = async () =>
      ((await (await ask(running, 'GET', '/api/tasks/stats')).json()) as { total: number }).total
    const balances = () => running.gateway.wallet.balances(running.keyId)
    const sent = (at: number) => upstream.received[at]?.body as Sent
    const lastTold = (at: number) => sent(at).messages.at(-1)?.content ?? ''

    it('creates the tasks of a plan at once, waiting for each other as planned, with the reward split exactly', async () => {
      upstream.on('/chat/completions', GOOD)
      const before = await balances()
      const swarm = await created({ reward_usd: 1, capabilities: ['writing', 'go'] })
      const [c, a, b] = swarm.tasks
      assert.ok(a && b && c, 'three tasks')
      assert.match(swarm.swarm_id ?? '', /^swarm_/)
      for (const { id } of swarm.tasks) assert.match(id, /^task_/)
      assert.deepEqual(
        [a, b, c].map(({ status, reward_usd, depends_on }) => [status, reward_usd, depends_on]),
        [
          ['open', 0.333334, []],
          ['blocked', 0.333333, [a.id]],
          ['blocked', 0.333333, [a.id, b.id]],
        ],
      )
      assert.deepEqual(swarm.order, [a.id, b.id, c.id])
      assert.deepEqual(swarm.edges, [
        [a.id, c.id],
        [b.id, c.id],
        [a.id, b.id],
      ])
      const after = await balances()
      assert.equal(after.escrow_usd - before.escrow_usd, 1)
      const listed = (await (await ask(running, 'GET', `/api/tasks?swarm_id=${swarm.swarm_id}`)).json()) as {
        items: PlannedTask[]
      }
      assert.deepEqual(listed.items.map(({ id }) => id).sort(), swarm.order.toSorted())
      const swarms = await ask(running, 'GET', '/api/swarms?limit=1')
      const { items } = (await swarms.json()) as { items: Record<string, unknown>[] }
      const { created_at, ...fields } = items[0] ?? {}
      assert.ok(Number.isFinite(Date.parse(String(created_at))))
      assert.deepEqual(fields, {
        swarm_id: swarm.swarm_id,
        ...GOAL,
        status: 'running',
        tasks: { by_status: { blocked: 2, open: 1, claimed: 0, completed: 0, failed: 0, cancelled: 0 } },
        reward_usd: 1,
        creator: running.keyId,
      })
      assert.equal((await ask(running, 'GET', '/api/swarms?status=open')).status, 422)
      assert.equal((await ask(running, 'GET', '/api/swarms', { key: null })).status, 401)
    })

    it('asks the chat model for structured output, with the goal as the user’s own message, and records the call', async () => {
      upstream.on('/chat/completions', GOOD)
      const { call_id } = await created({ dry_run: true, max_tasks: 3 })
      const { messages, response_format } = sent(0)
      assert.deepEqual(messages.at(-1), { role: 'user', content: GOAL.goal })
      assert.equal(response_format?.json_schema.strict, true)
      assert.match(JSON.stringify(response_format), /at most 3/)
      await running.gateway.calls.flush()
      const { items } = await running.gateway.calls.history({ limit: 1 })
      assert.deepEqual(
        [items[0]?.call_id, items[0]?.surface, items[0]?.caller_id, items[0]?.status],
        [call_id, 'platform', running.keyId, 'ok'],
      )
    })

    it('creates nothing in a dry run, and tells the plan in its own ids', async () => {
      upstream.on('/chat/completions', GOOD)
      const before = [await total(), await balances()]
      // More than the caller has: nothing is locked.
      const swarm = await created({ dry_run: true, reward_usd: 900_000 })
      assert.equal(swarm.swarm_id, null)
      assert.deepEqual(swarm.order, ['a', 'b', 'c'])
      assert.deepEqual(
        swarm.tasks.map(({ id, depends_on, reward_usd }) => [id, depends_on, reward_usd]),
        [
          ['c', ['a', 'b'], 300_000],
          ['a', [], 300_000],
          ['b', ['a'], 300_000],
        ],
      )
      assert.deepEqual([await total(), await balances()], before)
    })

    const faulty: [string, double.Behaviour, RegExp, object?][] = [
      ['a circle', plan(task('a', ['b']), task('b', ['a'])), /cycle: a → b → a/],
      ['more tasks than allowed', plan(task('a'), task('b'), task('c')), /it has 3 tasks; at most 2/, { max_tasks: 2 }],
      ['a dependency that is not there', plan(task('a', ['z'])), /task a depends on z, which is not in the plan/],
      ['a task that waits for itself', plan(task('a', ['a'])), /task a depends on itself/],
      ['an id twice', plan(task('a'), task('a')), /the id a is given to more than one task/],
      ['no tasks', plan(), /it has no tasks/],
      ['a title without end', plan(task('a', [], { title: 'x'.repeat(5000) })), /tasks\.0\.title: invalid format/],
      [
        'a capability that nobody has',
        plan(task('a')),
        /task a asks for writing; allowed are go/,
        { capabilities: ['go'] },
      ],
      [
        'capabilities that no store can tell apart',
        plan(task('a', [], { capabilities: ['\ud800', '\ud801'] })),
        /tasks\.0\.capabilities\.0: must be well-formed Unicode/,
      ],
      ['malformed JSON', says('{"tasks": ['), /the reply is not valid JSON/],
      ['words', says('First write, then read.'), /the reply is not valid JSON/],
      ['nothing', says(''), /the reply is empty/],
      [
        'a refusal',
        double.json(200, {
          ...double.completion(''),
          choices: [{ index: 0, message: { role: 'assistant', content: null, refusal: 'No.' }, finish_reason: 'stop' }],
        }),
        /the model refused to plan it/,
      ],
      [
        'the beginning of a plan',
        double.json(200, {
          ...double.completion(''),
          choices: [{ index: 0, message: { role: 'assistant', content: '{"tasks": [' }, finish_reason: 'length' }],
        }),
        /cut off at its limit of tokens/,
      ],
    ]
    for (const [what, behaviour, fault, body = {}] of faulty)
      it(`asks again for ${what}, with the fault named, and gives up with 502 after the third time`, async () => {
        upstream.on('/chat/completions', behaviour)
        const before = [await total(), await balances()]
        const reply = await create({ reward_usd: 0.5, ...body })
        const error = await errorOf(reply)
        assert.deepEqual([reply.status, error.code, error.type], [502, 'upstream_bad_reply', 'upstream_error'])
        assert.match(error.message, fault)
        assert.equal(upstream.received.length, 3)
        for (const at of [1, 2]) assert.match(lastTold(at), fault)
        assert.deepEqual([await total(), await balances()], before)
      })

    it('goes on with the plan of the second or third time, and names the call that it came from', async () => {
      for (const times of [1, 2]) {
        upstream.received.length = 0
        const bad = plan(task('a', ['z']))
        upstream.on('/chat/completions', ...Array.from({ length: times }, () => bad), GOOD)
        const { call_id, tasks } = await created({})
        assert.equal(tasks.length, 3)
        assert.equal(upstream.received.length, times + 1)
        assert.equal(sent(times).messages.filter(({ role }) => role === 'assistant').length, times)
        await running.gateway.calls.flush()
        assert.equal((await running.gateway.calls.history({ limit: 1 })).items[0]?.call_id, call_id)
      }
    })

    it('asks without the schema where the provider refuses it', async () => {
      const refusal = { error: { message: 'This model does not support response format `json_schema`.', type: 'x' } }
      upstream.on('/chat/completions', double.json(400, refusal), says('No JSON.'), GOOD)
      const { tasks } = await created({ dry_run: true })
      assert.equal(tasks.length, 3)
      assert.deepEqual(
        [0, 1, 2].map((at) => sent(at).response_format?.type),
        ['json_schema', undefined, undefined],
      )
      assert.match(lastTold(2), /not valid JSON/)
    })

    it('calls no model, and creates nothing, for a reward beyond the credit or an unknown recipient', async () => {
      upstream.on('/chat/completions', GOOD)
      const before = [await total(), await balances()]
      const poor = await create({ reward_usd: 100 })
      assert.deepEqual([poor.status, (await errorOf(poor)).code], [402, 'insufficient_credit'])
      const nobody = await create({ reward_usd: 1, recipient: `key_${'0'.repeat(32)}` })
      assert.deepEqual([nobody.status, (await errorOf(nobody)).param], [422, 'recipient'])
      assert.equal(upstream.received.length, 0)
      assert.deepEqual([await total(), await balances()], before)
    })

    it('creates none of the tasks when the credit runs out while the model plans', async () => {
      const { available_usd, credit_limit_usd } = await balances()
      const left = available_usd + credit_limit_usd
      const before = await total()
      upstream.on('/chat/completions', async (response, request) => {
        const spent = await ask(running, 'POST', '/api/tasks', { body: { title: 'Another', reward_usd: left - 0.5 } })
        assert.equal(spent.status, 201)
        await GOOD(response, request)
      })
      const reply = await create({ reward_usd: 1 })
      assert.deepEqual([reply.status, (await errorOf(reply)).code], [402, 'insufficient_credit'])
      assert.equal(await total(), before + 1)
      assert.equal((await balances()).available_usd, 0.5 - credit_limit_usd)
    })

    it('passes an upstream failure on as 502, after one call, and creates nothing', async () => {
      const before = await total()
      for (const behaviour of [double.fails(400), double.fails(500), double.drops, double.malformed]) {
        upstream.received.length = 0
        upstream.on('/chat/completions', behaviour)
        const reply = await create({})
        assert.deepEqual([reply.status, (await errorOf(reply)).type], [502, 'upstream_error'])
        assert.equal(upstream.received.length, 1)
      }
      assert.equal(await total(), before)
    })

    it('ends the call upstream when the client of a key without limits goes away, and creates nothing', async () => {
      const { key } = await running.gateway.keys.create({ name: 'free', scopes: ['platform'], billing: 'recorded' })
      upstream.on('/chat/completions', double.hangs)
      const before = await total()
      const leaving = new AbortController()
      const reply = fetch(`${running.url}/api/tasks/swarm`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(GOAL),
        signal: leaving.signal,
      })
      await until(async () => upstream.received.length === 1)
      leaving.abort()
      await assert.rejects(reply)
      await upstream.received[0]?.aborted
      assert.equal(upstream.received.length, 1)
      assert.equal(await total(), before)
    })

    it('is created once under an idempotency key', async () => {
      upstream.on('/chat/completions', GOOD)
      const before = await total()
      const headers = { 'idempotency-key': 'one-swarm' }
      const first = await create({}, headers)
      const second = await create({}, headers)
      assert.deepEqual(await second.json(), await first.json())
      assert.equal(second.headers.get('idempotent-replayed'), 'true')
      assert.deepEqual([upstream.received.length, await total()], [1, before + 3])
      assert.equal((await create({ max_tasks: 3 }, headers)).status, 422)
    })

    it('is created once under an idempotency key, though the first answer was lost with its process', async (t) => {
      upstream.on('/chat/completions', GOOD)
      const before = await total()
      const { swarm } = running.gateway
      const { create: original } = swarm
      const dies = async (...args: Parameters<typeof original>) => {
        await original(...args)
        throw new Error('The process died.')
      }
      t.mock.method(swarm, 'create', dies, { times: 1 })
      const headers = { 'idempotency-key': 'lost-swarm' }
      assert.equal((await create({}, headers)).status, 500)
      const again = await create({}, headers)
      assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
      assert.equal(((await again.json()) as Swarm).tasks.length, 3)
      assert.deepEqual([upstream.received.length, await total()], [1, before + 3])
    })

    const refused: [string, object, string][] = [
      ['no goal', { goal: ' ' }, 'goal'],
      ['a goal of another kind', { goal: 7 }, 'goal'],
      ['no tasks', { max_tasks: 0 }, 'max_tasks'],
      ['too many tasks', { max_tasks: 51 }, 'max_tasks'],
      ['half a task', { max_tasks: 1.5 }, 'max_tasks'],
      ['a reward below zero', { reward_usd: -1 }, 'reward_usd'],
      ['a reward with seven decimals', { reward_usd: 0.0000001 }, 'reward_usd'],
      ['capabilities that are no list', { capabilities: 'go' }, 'capabilities'],
      ['an empty capability', { capabilities: [''] }, 'capabilities.0'],
      ['a field that it does not know', { agents: 3 }, 'agents'],
    ]
    for (const [what, body, param] of refused)
      it(`refuses ${what}, naming the field, without asking a model`, async () => {
        const reply = await create(body)
        assert.deepEqual([reply.status, (await errorOf(reply)).param], [422, param])
        assert.equal(upstream.received.length, 0)
      })
  })
}
