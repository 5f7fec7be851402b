import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { DatabaseSync } from '@photostructure/sqlite'
import { Receipt } from 'mppx'
import { evm, Mppx } from 'mppx/client'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type Anvil, KEYS, startAnvil } from '../chain/anvil.ts'
import { deployToken, type Token } from '../chain/token.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { type GatewayProcess, platformOf, startGatewayProcess } from './gateway-process.ts'
import { newPlace, type Place, run } from './server.ts'

const CHAIN_ID = 31_337
const PRICE = 90_000n
const ENV = { GAZEWAY_MPP_SECRET_KEY: 'x'.repeat(32), GAZEWAY_WALLET_PRIVATE_KEY: KEYS[0] }
const TREASURY = privateKeyToAccount(KEYS[0]).address
const SERVICE = ['--platform', '--platform-port', '0']
const CHAT = { messages: [{ role: 'user', content: 'Hello' }] }
const CALL = { model: 'llm-4-1-fast-reasoning', prompt: 'Hello' }

/** JSON of which a test reads what it looks for. */
// biome-ignore lint/suspicious/noExplicitAny: replies of many routes
type Json = any

interface Answer {
  status: number
  headers: Headers
  json: Json
}

/** A key as its owner has it. */
interface Person {
  id: string
  key: string
}

let seeds = 1

/**
 * A gateway and its platform as an operator starts them, asked over HTTP alone: by a payer, a worker, and a stranger.
 */
describe('money, from outside', { timeout: 240_000 }, () => {
  let anvil: Anvil
  let token: Token
  let place: Place
  let gateway: GatewayProcess
  let platform: string

  before(async () => {
    anvil = await startAnvil({ chainId: CHAIN_ID })
    token = await deployToken(anvil)
    await token.mint(TREASURY, 100_000_000n)
    place = placeWith({})
    gateway = await startGatewayProcess(place, { args: [...SERVICE, '--upstream', 'sandbox'], env: ENV })
    platform = await platformOf(gateway)
  })
  after(async () => {
    await gateway.stop()
    await anvil.stop()
  })

  /** A folder whose configuration takes payments and settles on the chain. */
  function placeWith({ evm: changed = {} }: { evm?: object }): Place {
    const made = newPlace()
    const { name: token_name, version: token_version } = token.domain
    const node = { chain_id: CHAIN_ID, rpc_url: anvil.url }
    mkdirSync(made.data, { mode: 0o700 })
    const document = {
      chain: {
        networks: {
          [CHAIN_ID]: {
            name: 'Test',
            tokens: [{ symbol: 'TUSD', address: token.address, decimals: 6 }],
            confirmations: 1,
          },
        },
        rpc_urls: { [CHAIN_ID]: anvil.url },
        settlement: { mode: 'evm', chain_id: CHAIN_ID, token: 'TUSD', poll_ms: 20 },
      },
      mpp: {
        enabled: true,
        recipient: TREASURY,
        requests_per_minute: 200,
        evm: { ...node, token: token.address, token_name, token_version, max_gas_per_hour: 1, ...changed },
      },
    }
    writeFileSync(join(made.data, 'config.json'), JSON.stringify(document), { mode: 0o600 })
    return made
  }

  async function ask(
    method: string,
    path: string,
    { key, body, headers = {}, at = platform }: { key?: string; body?: unknown; headers?: object; at?: string } = {},
  ): Promise<Answer> {
    const reply = await fetch(at + path, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await reply.text()
    return { status: reply.status, headers: reply.headers, json: text === '' ? null : JSON.parse(text) }
  }
  const refusal = ({ status, json }: Answer) => [status, json.error?.code]
  const ok = ({ status, json }: Answer): Json => {
    assert.ok(status < 300, `${status} ${JSON.stringify(json)}`)
    return json
  }

  async function person(name: string, more: object = {}): Promise<Person> {
    const body = { name, scopes: ['platform'], ...more }
    return ok(await ask('POST', '/api/keys', { key: gateway.key, body }))
  }
  async function rich(name: string, amount_usd = 10): Promise<Person> {
    const made = await person(name, { limits: { credit_limit_usd: 0 } })
    const deposit = { caller_id: made.id, amount_usd, reference: `deposit-${made.id}` }
    ok(await ask('POST', '/api/wallet/metered/deposit', { key: gateway.key, body: deposit }))
    return made
  }
  const available = async ({ key }: Person): Promise<number> =>
    ok(await ask('GET', '/api/wallet', { key })).ledger.available_usd

  const create = async ({ key }: Person, task: object = {}): Promise<Json> =>
    ok(await ask('POST', '/api/tasks', { key, body: { title: 'Do it', reward_usd: 2, ...task } }))
  const claim = ({ key }: Person, { id }: Json, more: object = {}) =>
    ask('POST', `/api/tasks/${id}/claim`, { key, body: { agent: 'ada', ...more } })
  const complete = ({ key }: Person, { id }: Json) =>
    ask('POST', `/api/tasks/${id}/complete`, { key, body: { agent: 'ada', result: 'done', status: 'completed' } })
  const release = ({ key }: Person, { escrow_id }: Json, attestation_id: string, more: object = {}) =>
    ask('POST', '/api/wallet/escrow/release', { key, body: { escrow_id, attestation_id, ...more } })
  const escrowOf = async ({ key }: Person, { escrow_id }: Json): Promise<Json> =>
    ok(await ask('GET', `/api/wallet/escrow/${escrow_id}`, { key }))

  /** The attestation of a reader whose first look is at `start`. */
  async function look({ key }: Person, { id }: Json, start = new Date()): Promise<string> {
    const records = humanStream(seeds++, { records: 60, start: start.toISOString() })
    const { attestation } = ok(await ask('POST', '/api/gaze/store', { key, body: { task_id: id, records } }))
    assert.equal(attestation.status, 'passed', JSON.stringify(attestation))
    return attestation.id
  }
  /** The attestation of a reader whose looks are stored as each is over. */
  async function read({ key }: Person, { id }: Json): Promise<string> {
    const records = humanStream(seeds++, { records: 30, start: new Date().toISOString() })
    let session: { session_id?: string } = {}
    for (;;) {
      const over = records.filter(({ at, dwell_ms }) => Date.parse(at) + dwell_ms <= Date.now())
      const seen = records.splice(0, over.length)
      if (seen.length > 0) {
        const body = { task_id: id, records: seen, ...session }
        const { session_id, attestation } = ok(await ask('POST', '/api/gaze/store', { key, body }))
        session = { session_id }
        if (records.length === 0) return attestation.id
      }
      const next = records[0]
      if (next) await new Promise((resolve) => setTimeout(resolve, Date.parse(next.at) + next.dwell_ms - Date.now()))
    }
  }

  const client = (account: PrivateKeyAccount) =>
    Mppx.create({ methods: [evm.charge({ account, authorization: token.domain })], polyfill: false })
  async function wallet(units = 0n): Promise<PrivateKeyAccount> {
    const account = privateKeyToAccount(generatePrivateKey())
    if (units > 0n) await token.mint(account.address, units)
    return account
  }
  const paid = (account: PrivateKeyAccount, path: string, body: unknown, { at = platform, headers = {} } = {}) =>
    client(account).fetch(at + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const creditOf = async ({ address }: PrivateKeyAccount, at = platform, key = gateway.key): Promise<number> => {
    const path = `/api/wallet/ledger?caller_id=${address.toLowerCase()}`
    return ok(await ask('GET', path, { key, at })).balances.available_usd
  }

  it('1. pays the key that completed a task, whomever its payer names, and at the worker’s own request', async () => {
    const [payer, worker, stranger] = [await rich('payer'), await person('worker'), await person('stranger')]
    const task = await create(payer)
    ok(await claim(worker, task))
    const evidence = await read(worker, task)
    ok(await complete(worker, task))
    for (const recipient of [payer.id, stranger.id, TREASURY.toLowerCase()])
      assert.deepEqual(refusal(await release(payer, task, await look(payer, task), { recipient })), [
        409,
        'recipient_fixed',
      ])
    assert.deepEqual(refusal(await release(stranger, task, evidence)), [403, 'forbidden'])
    const released = ok(await release(worker, task, evidence))
    assert.deepEqual([released.status, released.recipient], ['released', worker.id])
    assert.deepEqual([await available(payer), await available(worker)], [8, 2])
    assert.deepEqual(ok(await release(payer, task, evidence)), released, 'once')
  })

  it('2. counts attention of the right person, after the right moment, about a task that there is', async () => {
    const [payer, worker, stranger] = [await rich('payer'), await person('worker'), await person('stranger')]
    const early = new Date()
    const task = await create(payer, { gaze_required: true })
    const failed = [403, 'gaze_verification_failed']
    const claims = async (attestation_id: string) => refusal(await claim(worker, task, { attestation_id }))
    assert.deepEqual(await claims(await look(stranger, task)), failed, 'another key’s')
    assert.deepEqual(await claims(await look(payer, task)), failed, 'the payer’s')
    const before = new Date(early.getTime() - 60_000)
    assert.deepEqual(await claims(await look(worker, task, before)), failed, 'dated before the task')
    const nowhere = { task_id: `task_${'0'.repeat(32)}`, records: humanStream(seeds++, { records: 60 }) }
    const stored = await ask('POST', '/api/gaze/store', { key: worker.key, body: nowhere })
    assert.deepEqual(refusal(stored), [404, 'not_found'], 'of a task that there is not')
    ok(await claim(worker, task, { attestation_id: await look(worker, task) }))
    const beforehand = await look(payer, task)
    ok(await complete(worker, task))
    const releases = async (attestation_id: string) => refusal(await release(payer, task, attestation_id))
    assert.deepEqual(await releases(beforehand), failed, 'the payer’s of before the completion')
    assert.deepEqual(await releases(await look(stranger, task)), failed, 'another key’s')
    assert.deepEqual(await releases(await look(worker, task)), failed, 'the worker’s of after it')
    assert.equal(ok(await release(payer, task, await look(payer, task))).status, 'released')
  })

  it('3. pays on the chain what was deposited, and credit in the ledger alone', async () => {
    const address = (await wallet()).address.toLowerCase()
    const worker = await person('worker', { wallet: address })
    const done = async (payer: Person) => {
      const task = await create(payer)
      const locked = await escrowOf(payer, task)
      ok(await claim(worker, task))
      ok(await complete(worker, task))
      const released = ok(await release(payer, task, await look(payer, task)))
      return { task, locked, released }
    }
    const onCredit = await done(await person('penniless'))
    assert.equal(onCredit.locked.settlement.mode, 'ledger')
    assert.deepEqual([onCredit.released.settlement.status, onCredit.released.status], ['none', 'released'])
    const payer = await rich('payer')
    const deposited = await done(payer)
    assert.equal(deposited.locked.settlement.mode, 'evm')
    assert.equal(deposited.locked.token, 'TUSD')
    await until(async () => (await escrowOf(payer, deposited.task)).status === 'settled', { seconds: 30 })
    assert.equal(await token.balanceOf(address), 2_000_000n, 'of two rewards, the one that was deposited')
  })

  it('4. asks for no deposit that gas would cost more than', async () => {
    const payer = await wallet(5_000_000n)
    const deposit = (amount_usd: number) =>
      ask('POST', '/api/wallet/metered/deposit', { body: { caller_id: payer.address, amount_usd } })
    const small = await deposit(0.000001)
    assert.deepEqual([small.status, small.headers.get('www-authenticate')], [422, null])
    assert.match(small.json.error.message, /1/)
    assert.equal((await deposit(1)).status, 402)
    const reply = await paid(payer, '/api/wallet/metered/deposit', { caller_id: payer.address, amount_usd: 1.5 })
    assert.equal(reply.status, 200, await reply.text())
    assert.deepEqual([await creditOf(payer), await token.balanceOf(payer.address)], [1.5, 3_500_000n])
  })

  it('4. limits requests without a key', async () => {
    // Another process than that of the other cases, which come from the same address.
    const limited = await startGatewayProcess(placeWith({}), { args: [...SERVICE, '--upstream', 'sandbox'], env: ENV })
    const at = await platformOf(limited)
    const statuses = new Set<number>()
    for (let i = 0; i < 201; i++) statuses.add((await ask('GET', '/v1/models', { at })).status)
    assert.deepEqual([...statuses], [402, 429])
    const refused = ok(await ask('GET', '/api/calls?status=refused', { key: limited.key, at }))
    assert.deepEqual([refused.items[0].http_status, refused.items[0].caller_id], [429, null])
    await limited.stop()
  })

  it('5. does not start with an address that is no token, and doctor names the setting', async () => {
    const wrong: [evm: object, named: RegExp][] = [
      [{ decimals: 18 }, /mpp\.evm\.decimals/],
      [{ token: `0x${'12'.repeat(20)}` }, /mpp\.evm\.token/],
      [{ token_name: 'Another USD' }, /mpp\.evm\.token_name/],
    ]
    for (const [changed, named] of wrong) {
      const other = placeWith({ evm: changed })
      const start = await run(other, [...SERVICE, '--upstream', 'sandbox'], ENV)
      assert.equal(start.code, 1, start.stderr)
      assert.match(start.stderr, named)
      const { code, stdout } = await run(other, ['doctor', '--upstream', 'sandbox'], ENV)
      assert.equal(code, 1)
      assert.match(stdout, new RegExp(`^FAIL {2}payments .*${named.source}`, 'm'))
    }
  })

  it('6. takes no payment for what it would not serve, and asks for enough', async () => {
    const payer = await wallet(10_000_000n)
    const unpaid = async (method: string, path: string, body?: unknown) => {
      const reply = await ask(method, path, { body })
      return [reply.status, reply.headers.get('www-authenticate')]
    }
    assert.deepEqual(await unpaid('POST', '/v1/chat/completions', '{ "messages": '), [400, null])
    assert.deepEqual(await unpaid('POST', '/v1/nowhere', CHAT), [404, null])
    assert.deepEqual(await unpaid('POST', '/v1/chat/completions', { messages: [] }), [422, null])
    const call = { caller_id: payer.address, ...CALL }
    const reply = await paid(payer, '/api/wallet/metered/call', call)
    const receipt = (await reply.json()) as Json
    assert.equal(reply.status, 200, JSON.stringify(receipt))
    assert.equal(receipt.billing.token, 'TUSD')
    const spent = Number(10_000_000n - (await token.balanceOf(payer.address))) / 1e6
    // To the micro-dollar: sums of JSON numbers are not exact.
    assert.equal((await creditOf(payer)).toFixed(6), (spent - receipt.billing.total_usd).toFixed(6))
  })

  it('6. and 7. gives back what failed, and spends that before another payment is settled', async () => {
    const upstream = await double.startUpstream()
    const other = await startGatewayProcess(placeWith({}), { args: [...SERVICE, '--upstream', upstream.url], env: ENV })
    const at = await platformOf(other)
    const payer = await wallet(PRICE)
    upstream.on('/chat/completions', double.fails(400))
    assert.equal((await paid(payer, '/v1/chat/completions', CHAT, { at })).status, 400)
    assert.deepEqual([await creditOf(payer, at, other.key), await token.balanceOf(payer.address)], [0.09, 0n])
    upstream.on('/chat/completions', double.json(200, double.completion('Hello')))
    const served = await paid(payer, '/v1/chat/completions', CHAT, { at })
    assert.equal(served.status, 200, await served.text())
    assert.equal(Receipt.deserialize(served.headers.get('payment-receipt') ?? '').method, 'credit')
    assert.equal(await creditOf(payer, at, other.key), 0)
    assert.equal((await paid(payer, '/v1/chat/completions', CHAT, { at })).status, 402, 'there is nothing left')

    await token.mint(payer.address, PRICE)
    upstream.on('/chat/completions', double.fails(400))
    assert.equal((await paid(payer, '/v1/chat/completions', CHAT, { at })).status, 400)
    const withdraw = (key: string, amount_usd: number) => {
      const body = { caller_id: payer.address, amount_usd, to: payer.address }
      return ask('POST', '/api/wallet/withdraw', { key, body, at, headers: { 'idempotency-key': `out-${amount_usd}` } })
    }
    const made = ok(await ask('POST', '/api/keys', { key: other.key, body: { name: 'a', scopes: ['platform'] }, at }))
    assert.equal((await withdraw(made.key, 0.09)).status, 403, 'for admins')
    assert.deepEqual(refusal(await withdraw(other.key, 0.090001)), [402, 'insufficient_credit'])
    for (let times = 0; times < 2; times++) ok(await withdraw(other.key, 0.09))
    await until(async () => (await token.balanceOf(payer.address)) === PRICE, { seconds: 30 })
    assert.equal(await creditOf(payer, at, other.key), 0)
    await other.stop()
    await upstream.close()
  })

  it('8. answers nothing once a payment was given back, after the process had been suspended', async () => {
    const upstream = await double.startUpstream()
    const shared = placeWith({})
    const args = [...SERVICE, '--upstream', upstream.url]
    const suspended = await startGatewayProcess(shared, { args, env: ENV })
    const payer = await wallet(PRICE)
    let answer = () => {}
    const asked = new Promise<void>((resolve) => {
      upstream.on('/chat/completions', (response, request) => {
        answer = () => void double.json(200, double.completion('Too late'))(response, request)
        resolve()
      })
    })
    const reply = paid(payer, '/v1/chat/completions', CHAT, { at: await platformOf(suspended) })
    await asked
    suspended.kill('SIGSTOP')
    letTimePass(join(shared.data, 'gazeway.db'))
    const other = await startGatewayProcess(shared, { args, env: { ...ENV, NODE_OPTIONS: preloaded(OFTEN) } })
    const at = await platformOf(other)
    await until(async () => (await creditOf(payer, at, other.key)) === 0.09, { seconds: 30 })
    suspended.kill('SIGCONT')
    answer()
    const late = await reply
    assert.deepEqual([late.status, ((await late.json()) as Json).error.code], [504, 'upstream_timeout'])
    assert.equal(await creditOf(payer, at, other.key), 0.09, 'once')
    await suspended.stop()
    await other.stop()
    await upstream.close()
  })

  it('8. has a clock that differs reported', async () => {
    const env = { ...ENV, NODE_OPTIONS: preloaded('const { now } = Date; Date.now = () => now() + 1_200_000') }
    const { stdout } = await run(newPlace(), ['doctor', '--upstream', 'sandbox'], env)
    assert.match(stdout, /^FAIL {2}clock .* (?:1199|1200)\d{3} ms behind/m)
  })

  it('9. cancels a task once under an Idempotency-Key', async () => {
    const payer = await rich('payer')
    const [task, other] = [await create(payer), await create(payer)]
    const cancel = ({ id }: Json) =>
      ask('DELETE', `/api/tasks/${id}`, { key: payer.key, headers: { 'idempotency-key': 'cancel-1' } })
    const first = await cancel(task)
    assert.deepEqual([first.status, first.json.status], [200, 'cancelled'])
    const again = await cancel(task)
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
    assert.deepEqual(again.json, first.json)
    assert.equal((await cancel(other)).status, 422)
    assert.equal(await available(payer), 8)
  })

  it('9. credits a payment of a process that died, though payments are switched off by then', async () => {
    const upstream = await double.startUpstream()
    const shared = placeWith({})
    const dying = await startGatewayProcess(shared, { args: [...SERVICE, '--upstream', upstream.url], env: ENV })
    const payer = await wallet(PRICE)
    const asked = new Promise<void>((resolve) => upstream.on('/chat/completions', () => resolve()))
    const reply = paid(payer, '/v1/chat/completions', CHAT, { at: await platformOf(dying) })
    await asked
    dying.kill('SIGKILL')
    await assert.rejects(reply)
    const file = join(shared.data, 'config.json')
    const document = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...document, mpp: { ...document.mpp, enabled: false } }))
    letTimePass(join(shared.data, 'gazeway.db'))
    const checked = await run(shared, ['doctor', '--upstream', 'sandbox'], ENV)
    assert.match(checked.stdout, /^FAIL {2}payments /m)
    const env = { ...ENV, NODE_OPTIONS: preloaded(OFTEN) }
    const next = await startGatewayProcess(shared, { args: [...SERVICE, '--upstream', 'sandbox'], env })
    const at = await platformOf(next)
    await until(async () => (await creditOf(payer, at, next.key)) === 0.09, { seconds: 30 })
    await next.stop()
    await upstream.close()
    assert.match((await run(shared, ['doctor', '--upstream', 'sandbox'], ENV)).stdout, /^ok {4}payments /m)
  })

  it('9. charges no more than it reserved, and its books agree to the end', async () => {
    const upstream = await double.startUpstream()
    const used = { prompt_tokens: 1_999_999, completion_tokens: 1, total_tokens: 2_000_000 }
    upstream.on('/chat/completions', double.json(200, double.completion('Hello', used)))
    const lying = placeWith({})
    const other = await startGatewayProcess(lying, { args: [...SERVICE, '--upstream', upstream.url], env: ENV })
    const at = await platformOf(other)
    const body = { name: 'caller', scopes: ['platform'], limits: { budgets: [{ usd: 1, per: 'day' }] } }
    const { key } = ok(await ask('POST', '/api/keys', { key: other.key, body, at }))
    const call = { ...CALL, caller_id: key, max_tokens: 100 }
    const { billing } = ok(await ask('POST', '/api/wallet/metered/call', { body: call, at }))
    assert.ok(billing.total_usd < 0.082, `${billing.total_usd} USD`)
    const metrics = await (await fetch(`${other.url}/metrics`)).text()
    assert.match(metrics, /^gazeway_charge_overruns_total 1$/m)
    await other.stop()
    await upstream.close()
    for (const kept of [lying, place]) {
      const { stdout } = await run(kept, ['doctor', '--upstream', 'sandbox'], ENV)
      assert.match(stdout, /^ok {4}ledger /m)
      assert.match(stdout, /^ok {4}payments /m)
    }
  })

  it('9. names the token that moves', async () => {
    const payer = await rich('payer')
    const { token: named } = ok(await ask('GET', '/api/wallet/metered/pricing', { key: payer.key }))
    const { json: receipt } = await ask('POST', '/api/wallet/metered/call', {
      body: { ...CALL, caller_id: payer.key, max_tokens: 10 },
    })
    const escrow = await escrowOf(payer, await create(payer))
    assert.deepEqual([named, receipt.billing.token, escrow.token], ['TUSD', 'TUSD', 'TUSD'])
  })
})

/** Script that makes a process run its timers a hundred times as often. */
const OFTEN = `const { setInterval } = globalThis
  globalThis.setInterval = (work, ms, ...more) => setInterval(work, ms / 100, ...more)`

/** Has Node run a program first. */
const preloaded = (program: string): string => `--import=data:text/javascript,${encodeURIComponent(program)}`

/** Makes the leases of payments older by more than they last, and what looks for them due. */
function letTimePass(file: string): void {
  const database = new DatabaseSync(file)
  database.exec(`pragma busy_timeout = 5000;
    update payments set lease_until = '2026-01-01T00:00:00.000Z' where lease_until is not null;
    delete from sweeps where name = 'payments.unfinished'`)
  database.close()
}
