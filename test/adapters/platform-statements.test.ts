import assert from 'node:assert/strict'
import { createHash, verify } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { signedBytes } from '../../src/signing/envelope.ts'
import { type GatewayKey, gatewayKeys } from '../../src/signing/gateway-keys.ts'
import { sshKey } from '../../src/signing/ssh-key.ts'
import { until } from '../doubles/until.ts'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'

// biome-ignore lint/suspicious/noExplicitAny: replies, as they are read here
type Json = any

const period = new Date().toISOString().slice(0, 7)

describe('the statements of the platform', () => {
  let platform: RunningPlatform
  let ann: { id: string; key: string }
  let bob: { id: string; key: string }

  before(async () => {
    platform = await startPlatform('sandbox', {
      document: { pricing: { models: { 'sandbox-chat': { input: 2, output: 10 } } }, wallet: { receipts: 'all' } },
    })
    ann = await newKey('ann', 'metered')
    bob = await newKey('bob', 'recorded')
  })
  after(() => platform.close())

  async function newKey(name: string, billing: 'metered' | 'recorded') {
    const { record, key } = await platform.gateway.keys.create({ name, scopes: ['platform'], billing })
    return { id: record.id, key }
  }

  const get = (path: string, key = platform.admin, accept = 'application/json') =>
    ask(platform, 'GET', path, { key, headers: { accept } })
  const read = async (path: string, key?: string): Promise<Json> => (await get(path, key)).json()
  const chat = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 }

  it('states deposits and charges of a month, signed over its table and the head of the ledger', async () => {
    await platform.gateway.wallet.deposit({ caller_id: ann.id, amount_usd: 5, reference: 'first' })
    const headers = { 'x-gazeway-tags': 'nightly, <b>' }
    for (const { key } of [ann, bob])
      assert.equal((await ask(platform, 'POST', '/v1/chat/completions', { key, body: chat, headers })).status, 200)
    await platform.gateway.calls.flush()
    // What the process has reserved in advance goes back soon, which moves the head of the ledger.
    await until(async () => (await platform.gateway.wallet.balances(ann.id)).held_usd === 0)

    const mine = await read(`/api/wallet/statements?period=${period}`, ann.key)
    const [charge] = mine.charges
    const { available_usd, held_usd } = await platform.gateway.wallet.balances(ann.id)
    assert.equal(mine.closing_usd, Math.round((available_usd + held_usd) * 1e6) / 1e6)
    assert.equal(mine.totals.deposits_usd, 5)
    assert.equal(mine.totals.margin_usd, -0.08)
    assert.deepEqual([charge.model, charge.calls, charge.charged], ['sandbox-chat', 1, true])
    assert.deepEqual([charge.price.input, charge.price.output, charge.price.from], [2, 10, 'configuration'])
    const cost = Math.ceil(charge.prompt_tokens * 2 + charge.completion_tokens * 10)
    assert.equal(Math.round(charge.upstream_cost_usd * 1e6), cost)

    const csv = await (await get(`/api/wallet/statements?period=${period}`, ann.key, 'text/csv')).text()
    const payload = Buffer.from(mine.signature.payload, 'base64')
    const { subject, predicate } = JSON.parse(payload.toString())
    assert.equal(subject[0].digest.sha256, createHash('sha256').update(csv).digest('hex'))
    assert.equal(predicate.ledger_head, (await platform.gateway.wallet.verify()).head)
    const [{ public_key }] = (await gatewayKeys(platform.gateway.loaded.dataDir, new Date())) as [GatewayKey]
    const { key } = sshKey(Buffer.from(public_key.split(' ')[1] as string, 'base64'))
    const sig = Buffer.from(mine.signature.signatures[0].sig, 'base64')
    assert.ok(verify(null, signedBytes(payload), key, sig))
    const page = await get(`/api/wallet/statements?period=${period}`, ann.key, 'text/html')
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    assert.ok((await page.text()).includes(mine.ledger_head))

    const grouped = `/api/wallet/statements?period=${period}&group_by=tag`
    const byTag = await read(grouped, ann.key)
    assert.deepEqual([byTag.group_by, byTag.charges[0].group, byTag.totals], ['tag', '<b>, nightly', mine.totals])
    const signed = JSON.parse(Buffer.from(byTag.signature.payload, 'base64').toString())
    const bytes = await (await get(grouped, ann.key, 'text/csv')).text()
    assert.equal(signed.subject[0].digest.sha256, createHash('sha256').update(bytes).digest('hex'))
    assert.match(
      await (await get(grouped, ann.key, 'text/html')).text(),
      /By tag.*<td colspan="2">&lt;b&gt;, nightly</s,
    )
    assert.equal((await get(`/api/wallet/statements?period=${period}&group_by=day`, ann.key)).status, 422)
  })

  it('states calls that are recorded and not charged, where all calls have receipts', async () => {
    const { charges, totals, closing_usd } = await read(`/api/wallet/statements?period=${period}`, bob.key)
    assert.deepEqual([charges.length, charges[0].charged, closing_usd], [1, false, 0])
    assert.equal(totals.recorded_usd, charges[0].upstream_cost_usd)
    const { items } = await read('/api/wallet/metered/usage', bob.key)
    assert.deepEqual(
      items.map(({ charged, caller_name, transfer }: Json) => [charged, caller_name, transfer]),
      [[false, 'bob', null]],
    )
    assert.deepEqual((await platform.gateway.wallet.verify()).faults, [])
  })

  it('shows a caller its own account alone, and an admin all', async () => {
    const path = `/api/wallet/statements?period=${period}`
    for (const asked of [`${path}&caller_id=${ann.id}`, `${path}&group=grp_${'0'.repeat(32)}`])
      assert.equal((await get(asked, bob.key)).status, 403)
    const all = await read(path)
    assert.equal(all.of.kind, 'all')
    assert.equal(all.charges.length, 2)
    assert.equal((await read(`${path}&key=${ann.id}`)).closing_usd, all.closing_usd)
    for (const bad of ['2026', '2026-13', 'total'])
      assert.equal((await get(`/api/wallet/statements?period=${bad}`)).status, 422)
  })

  it('closes a period that has ended, for admins', async () => {
    const close = (of: string, key = platform.admin) =>
      ask(platform, 'POST', `/api/wallet/periods/${of}/close`, { key })
    assert.equal((await close(period)).status, 409)
    assert.equal((await close('2020-01', ann.key)).status, 403)
    const [one, other] = (await Promise.all([close('2020-01'), close('2020-01')])) as [Response, Response]
    assert.deepEqual([one.status, other.status], [200, 200])
    const [closed, same] = [await one.json(), await other.json()] as [Json, Json]
    assert.deepEqual(closed, same)
    const { closed_at, ledger_head } = await read('/api/wallet/statements?period=2020-01')
    assert.deepEqual({ closed_at, ledger_head }, { closed_at: closed.closed_at, ledger_head: closed.ledger_head })
  })

  it('lists transfers, deposits, payments and withdrawals by time and caller, as JSON and CSV', async () => {
    const { items, total } = await read('/api/wallet/deposits', ann.key)
    assert.equal(total, 1)
    assert.deepEqual([items[0].reference, items[0].amount_usd, items[0].caller_id], ['first', 5, ann.id])
    assert.equal((await read('/api/wallet/deposits?to=2020-01-01T00:00:00Z')).total, 0)
    assert.equal((await read('/api/wallet/deposits', bob.key)).total, 0)
    assert.equal((await get(`/api/wallet/deposits?caller_id=${ann.id}`, bob.key)).status, 403)
    const transfers = await read(`/api/wallet/ledger?caller_id=${ann.id}&from=2020-01-01T00:00:00Z`)
    assert.ok(transfers.total >= 2)
    assert.equal((await read(`/api/wallet/ledger?caller_id=${ann.id}&from=2999-01-01T00:00:00Z`)).total, 0)
    for (const list of ['ledger', 'deposits', 'payments', 'withdrawals']) {
      const reply = await get(`/api/wallet/${list}`, ann.key, 'text/csv')
      assert.match(reply.headers.get('content-type') ?? '', /^text\/csv/)
      assert.match(await reply.text(), /^[a-z_,]+\r\n/)
      assert.ok(Array.isArray((await read(`/api/wallet/${list}`, ann.key)).items))
    }
  })
})
