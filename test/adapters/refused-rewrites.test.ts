import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import { completion, json, response, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

let upstream: UpstreamDouble
let running: RunningGateway
before(async () => {
  upstream = await startUpstream()
  upstream.on('/chat/completions', json(200, completion('Hello back')))
  upstream.on('/responses', json(200, response('Hello back')))
  running = await startGateway(
    upstream.url,
    {},
    { wallet: { wait_ms: 0 }, pricing: { models: { 'gpt-test': { input: 1, output: 5 } } } },
  )
})
after(async () => {
  await running.close()
  await upstream.close()
})

const MESSAGES = '"model":"gpt-test","messages":[{"role":"user","content":"Hello"}],"max_tokens":1000'
const DOORS: ReadonlyArray<readonly [path: string, fields: string]> = [
  ['/v1/chat/completions', MESSAGES],
  ['/v1/messages', MESSAGES],
  ['/v1/responses', '"model":"gpt-test","input":"Hello","max_output_tokens":1000'],
  [
    '/v1beta/models/gpt-test:generateContent',
    '"contents":[{"role":"user","parts":[{"text":"Hello"}]}],"generationConfig":{"maxOutputTokens":1000}',
  ],
]
/** Too deep to be written again, which a name that is there twice requires. */
const UNWRITABLE = `"x":${'['.repeat(2501)}${']'.repeat(2501)},"y":{"a":1,"a":2}`
/** The same with a number that JavaScript cannot represent, and beyond a megabyte. */
const BODIES = [UNWRITABLE, `"big":12345678901234567890,${UNWRITABLE}`, `"s":"${' '.repeat(1_100_000)}",${UNWRITABLE}`]

describe('a request that cannot be written again', () => {
  for (const billing of ['recorded', 'cost'] as const)
    for (const [path, fields] of DOORS)
      it(`holds no money, place or call of its session: ${path}, ${billing}`, async () => {
        const { key, record } = await running.gateway.keys.create({
          name: 'agent',
          scopes: ['inference'],
          billing,
          // Two of the requests at a time would exceed the budget.
          limits: {
            budgets: [{ usd: 0.02, per: 'day' }],
            concurrent: 1,
            session_calls: 1,
            ...(billing === 'cost' && { credit_limit_usd: 10 }),
          },
        })
        const ask = async (body: string) => {
          const reply = await fetch(running.url + path, {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              authorization: `Bearer ${key}`,
              'x-gazeway-session': 'one',
            },
            body: `{${body}}`,
          })
          return { status: reply.status, text: await reply.text() }
        }
        const { length } = upstream.received
        for (const more of [UNWRITABLE, UNWRITABLE, UNWRITABLE, UNWRITABLE]) {
          const { status, text } = await ask(`${fields},${more}`)
          assert.equal(status, 400, text)
          assert.match(text, /nested too deeply/)
        }
        assert.equal(upstream.received.length, length, 'nothing is sent')
        const { status, text } = await ask(fields)
        assert.equal(status, 200, text)
        const held = () =>
          running.gateway.store.db.selectFrom('allowances').select('micros').where('key_id', '=', record.id).execute()
        await until(async () => (await held()).every(({ micros }) => micros === 0))
      })

  it('holds nothing either with a number that JavaScript cannot represent, nor beyond a megabyte', async () => {
    const { key, record } = await running.gateway.keys.create({
      name: 'agent',
      scopes: ['inference'],
      limits: { budgets: [{ usd: 5, per: 'day' }], concurrent: 1 },
    })
    for (const more of [...BODIES, ...BODIES]) {
      const reply = await fetch(`${running.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: `{${MESSAGES},${more}}`,
      })
      assert.equal(reply.status, 400, await reply.text())
    }
    await running.gateway.calls.flush()
    assert.deepEqual((await running.gateway.calls.history({ caller_id: record.id, limit: 1 })).items, [])
  })
})
