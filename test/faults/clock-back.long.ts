import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { openStore } from '../../src/store/open-store.ts'
import { until } from '../doubles/until.ts'
import { completion, json, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { withFlatPrices } from '../e2e/flat-prices.ts'
import { type GatewayProcess, platformOf, startGatewayProcess } from '../e2e/gateway-process.ts'
import { newPlace, run } from '../e2e/server.ts'

const ADMIN = 'fixed-admin-key-0123456789'
/** A midnight that begins a day and a month. */
const MIDNIGHT = Date.UTC(2030, 0, 1)
const place = withFlatPrices(newPlace())
const clockFile = join(place.temporary, 'clock')

/** Gives a process the clock of a file, which it reads at its start and at SIGUSR2. Time passes on it as everywhere. */
const CLOCK = `import { readFileSync } from 'node:fs'
  const { now } = Date
  const read = () => Number(readFileSync(${JSON.stringify(clockFile)}, 'utf8')) - now()
  let ahead = read()
  globalThis.Date = new Proxy(Date, {
    construct: (target, args) => new target(...(args.length > 0 ? args : [now() + ahead])),
    get: (target, name) => (name === 'now' ? () => now() + ahead : target[name]),
  })
  process.on('SIGUSR2', () => {
    ahead = read()
    process.stderr.write('clock ' + new Date().toISOString().slice(0, 16) + ' set\\n')
  })`

let upstream: UpstreamDouble
let gateway: GatewayProcess
let platform: string
before(async () => {
  upstream = await startUpstream()
  upstream.on('/chat/completions', json(200, completion('Hello back')))
  mkdirSync(place.temporary, { recursive: true })
  writeFileSync(clockFile, String(MIDNIGHT - 30_000))
  gateway = await startGatewayProcess(place, {
    args: ['--upstream', upstream.url, '--platform', '--platform-port', '0'],
    env: { GAZEWAY_API_KEY: ADMIN, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(CLOCK)}` },
  })
  platform = await platformOf(gateway)
})
after(async () => {
  await gateway.stop()
  await upstream.close()
})

/** Sets the gateway's clock to some seconds after midnight. */
async function setClock(seconds: number): Promise<void> {
  const times = gateway.stderr().split(' set\n').length
  writeFileSync(clockFile, String(MIDNIGHT + seconds * 1000))
  gateway.kill('SIGUSR2')
  await until(() => gateway.stderr().split(' set\n').length > times, { what: gateway.stderr })
}

async function send(url: string, key: string, body: object, headers: Record<string, string> = {}) {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  // biome-ignore lint/suspicious/noExplicitAny: replies of several routes
  return { status: reply.status, headers: reply.headers, json: (await reply.json()) as any }
}

async function newKey(terms: object): Promise<{ id: string; key: string }> {
  const { status, json } = await send(`${platform}/api/keys`, ADMIN, {
    name: 'caller',
    scopes: ['inference', 'platform'],
    ...terms,
  })
  assert.equal(status, 201, JSON.stringify(json))
  return json
}

/** Makes a call. @returns its status, and the code of its error */
async function call(key: string): Promise<string> {
  const body = { model: 'gpt-test', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100 }
  const { status, json } = await send(`${gateway.url}/v1/chat/completions`, key, body)
  return json.error === undefined ? `${status}` : `${status} ${json.error.code}`
}

/** Calls until it is refused. @returns how many were answered */
async function callsLeft(key: string): Promise<number> {
  for (let answered = 0; answered < 50; answered++) {
    const end = await call(key)
    if (end === '200') continue
    assert.equal(end, '402 budget_reached')
    return answered
  }
  assert.fail('no budget ends it')
}

it('grants no budget or rate twice, and charges once, when the clock goes back over midnight', async () => {
  const daily = await newKey({
    billing: 'cost',
    limits: { credit_limit_usd: 1, budgets: [{ usd: 0.002, per: 'day' }] },
  })
  const monthly = await newKey({ billing: 'recorded', limits: { budgets: [{ usd: 0.002, per: 'month' }] } })
  const rated = await newKey({ billing: 'recorded', limits: { requests_per_minute: 2 } })
  const payer = await newKey({ billing: 'metered', limits: { credit_limit_usd: 1 } })
  const expiring = await newKey({ billing: 'recorded', expires_at: new Date(MIDNIGHT).toISOString() })
  const replaced = await newKey({ billing: 'recorded' })
  assert.equal((await send(`${platform}/api/keys/${replaced.id}/rotate`, ADMIN, { grace_seconds: 60 })).status, 200)
  const once = { caller_id: payer.key, model: 'llm-4-1-fast-reasoning', prompt: 'Hello', max_tokens: 100 }
  const payOnce = async () => {
    const { status, headers, json } = await send(`${platform}/api/wallet/metered/call`, payer.key, once, {
      'idempotency-key': 'once',
    })
    assert.equal(status, 200, JSON.stringify(json))
    return [headers.get('idempotent-replayed'), json.call_id]
  }

  const before = [await callsLeft(daily.key), await callsLeft(monthly.key)]
  assert.ok(
    before.every((calls) => calls > 0),
    `${before}`,
  )
  assert.deepEqual(
    [await call(rated.key), await call(rated.key), await call(rated.key)],
    ['200', '200', '429 too_many_requests'],
  )
  assert.deepEqual([await call(expiring.key), await call(replaced.key)], ['200', '200'])
  const [, paid] = await payOnce()

  await setClock(5)
  assert.deepEqual([await callsLeft(daily.key), await callsLeft(monthly.key)], before, 'a new day and month')
  assert.equal(await call(rated.key), '429 too_many_requests', 'a minute lasts a minute, whatever the clock says')
  assert.deepEqual([await call(expiring.key), await call(replaced.key)], ['401 key_expired', '200'])
  await setClock(60)
  assert.equal(await call(replaced.key), '401 invalid_api_key')

  await setClock(-20)
  assert.deepEqual([await callsLeft(daily.key), await callsLeft(monthly.key)], [0, 0], 'they were used up on that day')
  assert.equal(await call(rated.key), '429 too_many_requests')
  assert.deepEqual(await payOnce(), ['true', paid], 'answered once')
  const back = [await call(expiring.key), await call(replaced.key)]
  assert.deepEqual(back, ['200', '200'], 'an end is a time of the clock, and comes again')
  await setClock(-86_400 * 40)
  assert.deepEqual(await payOnce(), ['true', paid], 'kept for more than a day, and never paid twice')

  await setClock(10)
  assert.deepEqual([await callsLeft(daily.key), await callsLeft(monthly.key)], [0, 0], 'nor is a new day given twice')
  assert.deepEqual(await payOnce(), ['true', paid])
  assert.equal(await call(expiring.key), '401 key_expired')

  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
  const store = await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)
  assert.deepEqual(await store.db.selectFrom('allowances').selectAll().execute(), [])
  const rows = await store.db.selectFrom('spending').selectAll().where('owner', '=', daily.id).orderBy('day').execute()
  await store.close()
  assert.deepEqual(
    rows.map(({ day, charged_micros }) => [day, charged_micros]),
    [
      ['2029-12-31', 45 * (before[0] ?? 0)],
      ['2030-01-01', 45 * (before[0] ?? 0)],
      ['total', 90 * (before[0] ?? 0)],
    ],
  )
  assert.match((await run(place, ['doctor', '--upstream', 'sandbox'])).stdout, /^ok {4}ledger /m)
})
