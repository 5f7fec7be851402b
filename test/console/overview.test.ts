import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Route } from 'playwright-core'
import { newId } from '../../src/text/ids.ts'
import { ask } from '../adapters/platform.ts'
import { startAgentGateway } from '../doubles/agent-gateway.ts'
import { type ConsoleUnderTest, inspect, startConsole, WITHOUT_BROWSER } from './browser.ts'
import { seedCalls } from './seed.ts'

describe('the overview', { skip: WITHOUT_BROWSER }, () => {
  let console: ConsoleUnderTest

  before(async () => {
    console = await startConsole()
  })
  after(() => console.close())

  it('says that nothing was called yet, and how to begin', async () => {
    const page = await console.open('#/overview')
    await page.getByText('No calls today yet').first().waitFor()
    await page.getByText('No failed calls').waitFor()
    await page.close()
  })

  it('says the latency of a first hour in figures: one point makes no line', async () => {
    const body = { goal: 'Write a small plan', dry_run: true }
    await ask(console.platform, 'POST', '/api/tasks/swarm', { body })
    const page = await console.open('#/overview')
    const latency = page.getByRole('region', { name: 'Latency' })
    await latency.getByText(/^Median \(p50\)/).waitFor()
    await latency
      .getByText(/^\d+ ms|^\d+\.\d s/)
      .first()
      .waitFor()
    assert.equal(await latency.locator('canvas').count(), 0)
    await page.close()
  })

  it('takes what it cannot read for no sign of health, and draws no time with the figures of another', async () => {
    const error = { code: 'store_unavailable', message: 'The store is away.', type: 'server_error', param: null }
    const refused = (route: Route) => route.fulfill({ status: 503, json: { error } })
    const page = await console.open('#/overview')
    await page.getByText('Calls as a table').waitFor()
    await page.route(/calls\/stats.*group_by=day/, refused)
    await page.getByRole('tab', { name: '30 days' }).click()
    await page.getByRole('alert').getByText(error.message).waitFor()
    assert.equal(await page.getByText('Calls as a table').count(), 0)
    await page.route(/calls\/stats\?from=[^&]*$/, refused)
    await page.getByRole('heading', { name: 'Check: Models' }).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'Models not known' }).getByText(error.message).waitFor()
    await page.close()
  })

  it('answers whether it is healthy, what today cost, and who spent it', async () => {
    await seedCalls(console.platform)
    const page = await console.open('#/overview')
    await page.getByRole('heading', { name: /^(All systems operational|Check: Models)/ }).waitFor()

    const today = new Date()
    today.setHours(0, 0, 0, 0)
    const path = `/api/calls/stats?from=${today.toISOString()}&group_by=caller`
    const reply = await ask(console.platform, 'GET', path, { key: console.platform.admin })
    const { totals, groups } = (await reply.json()) as {
      totals: { upstream_cost_usd: number; calls: number }
      groups: unknown[]
    }
    const cost = totals.upstream_cost_usd < 0.005 ? '<$0.01' : `$${totals.upstream_cost_usd.toFixed(2)}`
    await page.locator('.stat', { hasText: 'Cost today' }).getByText(cost, { exact: true }).waitFor()
    await page.locator('.stat', { hasText: 'Calls today' }).getByText(String(totals.calls), { exact: true }).waitFor()
    const spenders = page.getByRole('list', { name: 'Cost by caller' })
    assert.equal(await spenders.getByRole('listitem').count(), groups.length)
    if (groups.length === 3) await spenders.getByText('research bot').waitFor()
    await page.locator('.chart canvas').nth(3).waitFor()
    await inspect(page, 'overview')
    await page.close()
  })

  it('shows failed calls with what to do, and a new one without a reload', async () => {
    const page = await console.open('#/overview')
    const errors = page.getByRole('table', { name: 'Recent errors' })
    await errors.getByText('slow down', { exact: false }).first().waitFor()
    const [last] = (await console.platform.gateway.calls.history({ limit: 1 })).items
    assert.ok(last, 'there are calls')
    console.platform.gateway.calls.record({
      ...last,
      call_id: `call_${'f'.repeat(32)}`,
      at: new Date().toISOString(),
      status: 'error',
      http_status: 402,
      error: 'The upstream sandbox answered 402.',
    })
    await errors.getByText('out of credit', { exact: false }).waitFor()
    await page.close()
  })

  it('shows equal failures as one, with advice that leads to their upstream, on the page of the call too', async () => {
    const { gateway } = console.platform
    const [last] = (await gateway.calls.history({ limit: 1 })).items
    assert.ok(last, 'there are calls')
    const call_id = `call_${'e'.repeat(32)}`
    for (let i = 0; i < 6; i++)
      gateway.calls.record({
        ...last,
        call_id: i === 5 ? call_id : newId('call'),
        at: new Date(Date.now() + i).toISOString(),
        status: 'error',
        upstream: 'elsewhere',
        http_status: 503,
        error: `elsewhere answered 503 after ${i * 7} ms (req_${i}).`,
        changed: ['top_k=dropped'],
      })
    const page = await console.open('#/overview')
    const errors = page.getByRole('table', { name: 'Recent errors' })
    const row = errors.getByRole('row').filter({ hasText: 'elsewhere' })
    await row.getByText('6 calls').waitFor()
    assert.equal(await row.count(), 1)
    await row.getByRole('link', { name: 'elsewhere', exact: true }).click()
    await page.getByRole('heading', { name: 'Upstreams', level: 1 }).waitFor()
    await page.goto(`${console.platform.url}/#/calls/${call_id}`)
    await page.getByText('Transient error at').getByRole('link', { name: 'elsewhere' }).waitFor()
    await page.getByText('top_k=dropped').waitFor()
    await page.close()
  })

  it('counts refused calls by caller', async () => {
    const { platform } = console
    const body = { model: 'llm-4-1-fast-reasoning', prompt: 'Hello', caller_id: 'nobody' }
    for (let i = 0; i < 3; i++) await ask(platform, 'POST', '/api/wallet/metered/call', { body })
    const { key, record } = await platform.gateway.keys.create({
      name: 'poor',
      scopes: ['platform'],
      limits: { credit_limit_usd: 0 },
    })
    await ask(platform, 'POST', '/api/wallet/metered/call', { body: { ...body, caller_id: key } })
    const page = await console.open('#/overview')
    const refused = page.getByRole('list', { name: 'Refused calls by caller' })
    await refused.getByRole('listitem').filter({ hasText: 'Unknown key' }).getByText('3 calls').waitFor()
    await refused.getByRole('link', { name: 'poor' }).click()
    await page.getByRole('table', { name: 'Calls' }).getByText('refused').waitFor()
    assert.ok(page.url().includes(record.id))
    await page.close()
  })

  it('shows each key its own calls alone', async () => {
    const page = await console.open('#/overview', { key: console.platform.key })
    const spenders = page.getByRole('list', { name: 'Cost by caller' })
    await spenders.getByText('You').waitFor()
    assert.equal(await spenders.getByRole('listitem').count(), 1)
    await page.close()
  })

  it('changes the span of the charts by the keyboard, and has their values as a table', async () => {
    const page = await console.open('#/overview')
    await page.getByRole('tab', { name: '24 hours' }).focus()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('tab', { name: '7 days', selected: true }).waitFor()
    await page.getByText('Calls as a table').click()
    const rows = page.getByRole('region', { name: 'Calls, values' }).getByRole('row')
    await rows.nth(168).waitFor()
    assert.equal(await rows.count(), 169)
    await page.close()
  })

  it('calls the UTC days of a month by their dates, west of UTC too', async () => {
    const page = await console.openApart('#/overview', { timezoneId: 'America/Los_Angeles' })
    await page.getByRole('tab', { name: '30 days' }).click()
    await page.getByText('Calls as a table').click()
    const rows = page.getByRole('region', { name: 'Calls, values' }).getByRole('row')
    await rows.nth(30).waitFor()
    const path = '/api/calls/stats?group_by=day'
    const reply = await ask(console.platform, 'GET', path, { key: console.platform.admin })
    const { groups } = (await reply.json()) as { groups: { key: string; calls: number }[] }
    const dates = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
    for (const { key, calls } of groups) {
      const date = dates.format(Date.parse(key))
      const row = rows.filter({ has: page.getByRole('rowheader', { name: date, exact: true }) })
      assert.equal(await row.getByRole('cell').first().textContent(), String(calls), date)
    }
    await page.context().close()
  })

  it('breaks no policy and asks no other server', () => console.assertClean())
})

describe('the overview before an agent gateway that refuses its key', { skip: WITHOUT_BROWSER }, () => {
  it('does not call it sound, and names the key', async (t) => {
    const agent = await startAgentGateway('0.17')
    t.after(() => agent.close())
    const env = { GAZEWAY_AGENT_GATEWAY_URL: agent.url, GAZEWAY_AGENT_GATEWAY_KEY: 'a-wrong-key' }
    const console = await startConsole('sandbox', { env })
    t.after(() => console.close())
    const page = await console.open('#/overview')
    await page.getByRole('heading', { name: /^Check: .*Agent gateway/ }).waitFor()
    const part = page.getByRole('listitem').filter({ hasText: 'Agent gateway not usable' })
    await part.getByText('check GAZEWAY_AGENT_GATEWAY_KEY').waitFor()
    await page.close()
  })
})
