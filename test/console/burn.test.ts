import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import type { KeyRecord } from '../../src/identity/key.ts'
import { newId } from '../../src/text/ids.ts'
import { type ConsoleUnderTest, inspect, startConsole, WITHOUT_BROWSER } from './browser.ts'

describe('who is about to run dry, in the console', { skip: WITHOUT_BROWSER }, () => {
  let under: ConsoleUnderTest
  const made = new Map<string, KeyRecord>()

  before(async () => {
    under = await startConsole()
    const { keys, groups } = under.platform.gateway
    const { id: group } = await groups.create({ name: 'team', budgets: [{ usd: 6, per: 'total' }] })
    for (const input of [
      { name: 'idle' },
      { name: 'member', group },
      { name: 'fast', limits: { budgets: [{ usd: 2, per: 'total' as const }] } },
      { name: 'dry', limits: { budgets: [{ usd: 1, per: 'total' as const }] } },
      { name: 'charged', billing: 'cost' as const, limits: { credit_limit_usd: 4 } },
    ]) {
      const { record } = await keys.create({ scopes: ['inference'], ...input })
      made.set(input.name, record)
    }
    await spend('member', 1)
    await spend('fast', 1.9)
    await spend('dry', 1)
    await spend('charged', 0.5)
  })
  after(async () => {
    under.assertClean()
    await under.close()
  })

  /** A call of a key now, which cost so much. */
  async function spend(name: string, usd: number): Promise<void> {
    const { calls } = under.platform.gateway
    const { id = '', group = null } = made.get(name) ?? {}
    const at = new Date().toISOString()
    const record = {
      call_id: newId('call'),
      at,
      surface: 'http' as const,
      address: null,
      caller_id: id,
      path: '/v1/chat/completions',
      requested_model: null,
      model: 'llm-3-fast',
      upstream: 'sandbox',
      stream: false,
      status: 'ok' as const,
      http_status: 200,
      fallback_from: null,
      price_from: null,
      provider_key: null,
      ...NO_SESSION,
      skipped: [],
      latency_ms: 200,
      first_token_ms: null,
      usage: null,
      upstream_cost_usd: usd,
      error: null,
    }
    const spender = { id, groupId: group }
    const micros = Math.round(usd * 1e6)
    calls.record(record, undefined, { spender, day: at.slice(0, 10), micros, allowanceId: null, written() {} })
    await calls.flush()
  }

  it('is listed with balance, tightest budget, spending and the time left, the least first, and lives', async () => {
    const page = await under.open('#/burn')
    const table = page.getByRole('table', { name: 'Keys and groups, least time left first' })
    const rowOf = (name: string) =>
      table.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
    await rowOf('dry').getByText('run out').waitFor()
    const order = (await table.getByRole('link').allTextContents()).filter((name) => made.has(name) || name === 'team')
    assert.deepEqual(order.slice(0, 2), ['dry', 'fast'])
    assert.deepEqual(order.slice(2, 4).toSorted(), ['member', 'team'])
    assert.deepEqual(order.slice(4), ['charged', 'idle'])
    const [fast, member, charged, idle] = await Promise.all(
      ['fast', 'member', 'charged', 'idle'].map((name) => rowOf(name).textContent()),
    )
    assert.match(fast ?? '', /1 h.*budget.*\$1\.90.*not charged.*\$0\.10 left of \$2\.00 in total/)
    assert.match(member ?? '', /in team.*\$1\.00.*\$5\.00 left of \$6\.00 in total.*of the group team/)
    assert.match(charged ?? '', /7 days/)
    assert.match(charged ?? '', /balance.*\$0\.50.*\$4\.00 left.*no limit/)
    assert.match(idle ?? '', /not running out.*\$0\.00/)
    await inspect(page, 'burn')

    await spend('fast', 0.1)
    await rowOf('fast').getByText('run out').waitFor()
    await page.close()
  })

  it('is listed a page at a time', async () => {
    for (let i = 0; i < 25; i++) await under.platform.gateway.keys.create({ name: `key ${i}`, scopes: ['inference'] })
    const page = await under.open('#/burn')
    await page.getByRole('link', { name: 'dry', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Later' }).click()
    await page.getByRole('link', { name: 'dry', exact: true }).waitFor({ state: 'detached' })
    await page.getByText(/^26–\d+ of/).waitFor()
    await page.getByRole('button', { name: 'Sooner' }).click()
    await page.getByRole('link', { name: 'dry', exact: true }).waitFor()
    await page.close()
  })

  it('is for admins', async () => {
    const page = await under.open('#/burn', { key: under.platform.key })
    await page.getByText('Admin key required').waitFor()
    await page.close()
  })
})
