import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { openStore } from '../../src/store/open-store.ts'
import { toMicros } from '../../src/text/money.ts'
import { LEASE_MS } from '../../src/wallet/budget/allowances.ts'
import { releasePresumed, sweepAllowances } from '../../src/wallet/budget/presumed-spending.ts'
import { spendOf } from '../../src/wallet/budget/spending.ts'
import { verifyLedger } from '../../src/wallet/ledger/verify-ledger.ts'
import { callFaults } from '../../src/wallet/receipts/verify-calls.ts'
import { chunks, completion, json, sse, startUpstream } from '../doubles/upstream.ts'
import { withFlatPrices } from '../e2e/flat-prices.ts'
import { type GatewayProcess, startGatewayProcess } from '../e2e/gateway-process.ts'
import { newPlace } from '../e2e/server.ts'
import { keysOn } from '../wallet/setup.ts'

/** Calls at a time; the first ones are answered before the process is killed. */
const AT_ONCE = 6
/** The longest that is waited after a moment, in milliseconds: about as long as the step that follows it takes. */
const LATER_MS = 15

/** Moments of the kill: the named step has ended, and the next one has begun. */
const MOMENTS = ['asked', 'answered', 'charging'] as const

/** Kills gateways that answer charged calls over HTTP, at each step of a call, so many times. */
export function billingKills(kills: number): void {
  it(`keeps receipts, ledger and spend equal over ${kills} kills`, { timeout: kills * 20_000 }, async (t) => {
    const place = withFlatPrices(newPlace())
    const url = `sqlite:${join(place.data, 'gazeway.db')}`
    const upstream = await startUpstream()
    const store = await openStore(url)
    t.after(async () => {
      await store.close()
      await upstream.close()
    })
    const keys = keysOn(store)
    const { key, record } = await keys.create({
      name: 'caller',
      billing: 'metered',
      limits: { credit_limit_usd: 100_000, budgets: [{ usd: 100_000, per: 'month' }] },
    })
    await keys.close()
    let gateway: GatewayProcess | undefined
    let asked = 0
    let moment: (typeof MOMENTS)[number] = 'asked'
    const killSoon = () => void setTimeout(() => gateway?.kill('SIGKILL'), Math.random() * LATER_MS)
    upstream.on('/chat/completions', async (reply, request) => {
      const due = ++asked === AT_ONCE * 2
      if (due && moment === 'asked') return gateway?.kill('SIGKILL')
      const streamed = (request.body as { stream?: boolean }).stream === true
      await (streamed ? sse(chunks(['Hello', ' back'])) : json(200, completion('Hello back')))(reply, request)
      if (due && moment === 'answered') gateway?.kill('SIGKILL')
      if (due && moment === 'charging') killSoon()
    })

    /** Makes one call after the other until the process is gone. @returns the calls whose whole answer has come */
    async function callOn({ url: to }: GatewayProcess, stream: boolean): Promise<string[]> {
      const answered: string[] = []
      for (;;) {
        try {
          const reply = await fetch(`${to}/v1/chat/completions`, {
            method: 'POST',
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50, stream }),
          })
          const text = await reply.text()
          assert.equal(reply.status, 200, text)
          if (!stream || text.includes('[DONE]')) answered.push(reply.headers.get('x-gazeway-call-id') ?? '')
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error
          return answered
        }
      }
    }

    const answered = new Set<string>()
    for (let round = 0; round < kills; round++) {
      asked = 0
      moment = MOMENTS[round % MOMENTS.length] as typeof moment
      gateway = await startGatewayProcess(place, {
        args: ['--upstream', upstream.url],
        env: { GAZEWAY_API_KEY: 'fixed-admin-key-0123456789' },
      })
      const running = gateway
      const made = await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => callOn(running, i % 2 === 0)))
      for (const id of made.flat()) answered.add(id)
      assert.equal((await gateway.exit).signal, 'SIGKILL')
    }

    const receipts = await store.db
      .selectFrom('metered_calls')
      .select(['call_id', 'margin_micros', 'upstream_cost_micros', 'charged'])
      .execute()
    const paid = receipts.filter((receipt) => receipt.charged === 1)
    const charged = new Set(paid.map(({ call_id }) => call_id))
    for (const id of answered) assert.ok(charged.has(id), `${id} was answered and is not charged`)
    assert.ok(answered.size >= kills * AT_ONCE, `${answered.size} answered`)
    for (let left = 1; left > 0; ) left = await sweepAllowances(store, new Date(Date.now() + LEASE_MS), 100)
    await releasePresumed(store, record.id)
    assert.deepEqual(await store.db.selectFrom('allowances').selectAll().execute(), [])
    const sumOf = (rows: typeof receipts) =>
      rows.reduce((sum, row) => sum + Number(row.margin_micros) + Number(row.upstream_cost_micros), 0)
    const total = sumOf(paid)
    // Budgets count answers that a kill ended before their charge, too.
    assert.equal((await spendOf(store.db, [record.id], new Date())).get(record.id)?.total, sumOf(receipts))
    const accounts = await store.db.selectFrom('ledger_accounts').select(['id', 'balance_micros']).execute()
    const balanceOf = (id: string) => Number(accounts.find((account) => account.id === id)?.balance_micros ?? 0)
    assert.equal(balanceOf(`held:${record.id}`), 0)
    assert.equal(balanceOf(`caller:${record.id}`), -total)
    assert.equal(total, paid.length * (toMicros(0.080045) ?? 0))
    assert.deepEqual((await verifyLedger(store)).faults, [])
    assert.deepEqual(await callFaults(store), [])
  })
}
