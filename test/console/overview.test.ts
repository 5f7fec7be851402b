import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { newId } from '../../src/text/ids.ts'
import type { Burn } from '../../src/wallet/burn/burn.ts'
import { ask } from '../adapters/platform.ts'
import { startAgentGateway } from '../doubles/agent-gateway.ts'
import { until } from '../doubles/until.ts'
import { type ConsoleUnderTest, drawn, inspect, startConsole, WITHOUT_BROWSER } from './browser.ts'
import { seedCalls } from './seed.ts'

/** Start of the reader's day, RFC 3339. */
function midnight(): string {
  const today = new Date()
  today.setHours(0, 0, 0, 0)
  return today.toISOString()
}

/** Number of calls of the list that is shown, on all its pages. */
async function callsListed(page: Page): Promise<number> {
  const table = page.getByRole('table', { name: 'Calls', exact: true })
  await table.getByRole('row').nth(1).waitFor()
  const pager = page.locator('.pager')
  if ((await pager.count()) === 0) return (await table.getByRole('row').count()) - 1
  return Number(/ of ([\d,]+)/.exec((await pager.textContent()) ?? '')?.[1]?.replaceAll(',', ''))
}

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
    await page.getByText('No refused calls').waitFor()
    await page.close()
  })

  it('says that nothing needs a person once failed calls, keys and reviews are all read', async () => {
    const page = await console.open('#/upstreams/new')
    await page.getByRole('heading', { level: 1 }).waitFor()
    const held: Route[] = []
    for (const path of ['**/api/keys/burn*', '**/api/reviews*'])
      await page.route(path, (route) => {
        held.push(route)
      })
    const failed = page.waitForResponse(/api\/calls\?status=error/)
    await page.evaluate(() => {
      location.hash = '#/overview'
    })
    await (await failed).finished()
    await until(() => held.length === 2, { what: 'keys and reviews', seconds: 60 })
    const nothing = page.getByText('Nothing needs you')
    for (const route of held) {
      await drawn(page)
      assert.equal(await nothing.count(), 0)
      const reply = page.waitForResponse((response) => response.request() === route.request())
      await route.continue()
      await (await reply).finished()
    }
    await nothing.waitFor()
    await page.close()
    const own = await console.open('#/overview', { key: console.platform.key })
    await own.getByText('Nothing needs you').waitFor()
    await own.close()
  })

  it('has a command to copy for the first call', async () => {
    const page = await console.open('#/overview')
    const traffic = page.getByRole('region', { name: 'Traffic' })
    await traffic.getByText('gazeway connect claude-code', { exact: true }).waitFor()
    assert.equal(await traffic.locator('canvas').count(), 0)
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
    const body = { goal: 'Write a small plan', dry_run: true }
    await ask(console.platform, 'POST', '/api/tasks/swarm', { body })
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

    const path = `/api/calls/stats?from=${midnight()}&group_by=caller`
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

  it('asks in five requests for what it shows first, and for the rest once the figures of today are there or fail', async () => {
    const page = await console.open('#/upstreams/new')
    await page.getByRole('heading', { level: 1 }).waitFor()
    const asked = new Set<string>()
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      const by = ['group_by', 'and_by', 'status'].map((name) => searchParams.get(name)).filter(Boolean)
      if (/^\/(api\/(?!verify)|health)/.test(pathname)) asked.add([pathname, ...by].join(' '))
    })
    const first = [
      '/api/calls error',
      '/api/calls/stats caller model',
      '/api/calls/stats hour',
      '/api/wallet/metered/usage',
      '/health',
    ]
    const later = ['/api/calls/stats', '/api/keys/burn', '/api/reviews', '/api/wallet/balances']
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    const figures = /calls\/stats\?.*and_by=model/
    await page.route(figures, async (route) => {
      await held
      await route.fulfill({
        status: 503,
        json: { error: { code: 'store_unavailable', message: 'The store is away.' } },
      })
    })
    await page.evaluate(() => {
      location.hash = '#/overview'
    })
    await page.locator('.chart canvas').first().waitFor()
    await page.getByRole('region', { name: 'Needs you' }).getByRole('listitem').first().waitFor()
    await page.locator('.health').getByText('running', { exact: true }).waitFor()
    assert.deepEqual([...asked].toSorted(), first)
    answer()
    await until(() => later.every((one) => asked.has(one)), {
      what: () => `the rest, after ${[...asked].join(', ')}`,
      seconds: 60,
    })
    await page.unroute(figures)
    await page.locator('.stat', { hasText: 'Cost today' }).waitFor()
    await page.close()
  })

  it('is one screen at 1,440 pixels: state, money, traffic, what needs a person, and the details', async () => {
    const page = await console.open('#/overview', { width: 1440 })
    await page.locator('.chart canvas').nth(3).waitFor()
    await page.getByRole('list', { name: 'Needs you' }).getByRole('listitem').first().waitFor()
    await page.getByRole('list', { name: 'Cost by caller' }).waitFor()
    await page.getByRole('list', { name: 'Cost by model' }).waitFor()
    await page.locator('.stat').nth(7).waitFor()
    await drawn(page)
    assert.ok((await page.evaluate(() => document.documentElement.scrollHeight)) <= 900)
    const parts = ['.health', '.stat', '.strips', '.needs', '.overview-detail']
    const found = await page.evaluate((selectors) => {
      const all = [...document.querySelectorAll('main *')]
      return selectors.map((selector) => all.findIndex((one) => one.matches(selector)))
    }, parts)
    assert.ok(!found.includes(-1), `${found}`)
    assert.deepEqual(
      found,
      found.toSorted((a, b) => a - b),
    )
    await page.close()
  })

  it('leads from each figure of today, and from each bar of a caller, to the calls that it sums up', async () => {
    const { gateway, keyId } = console.platform
    const [last] = (await gateway.calls.history({ limit: 1 })).items
    assert.ok(last, 'there are calls')
    for (const status of ['ok', 'error', 'refused'] as const)
      gateway.calls.record({ ...last, call_id: newId('call'), at: new Date().toISOString(), status, caller_id: keyId })
    await gateway.calls.flush()
    const page = await console.open('#/overview')
    const figure = (label: string) => page.locator('.stat', { hasText: label }).getByRole('link')
    for (const label of ['Calls today', 'Failed today', 'Refused today']) {
      const said = Number(await figure(label).textContent())
      assert.ok(said > 0, label)
      await figure(label).click()
      assert.equal(await callsListed(page), said, label)
      await page.goBack()
    }
    const bar = page
      .getByRole('list', { name: 'Cost by caller' })
      .getByRole('listitem')
      .filter({ has: page.getByRole('link', { name: 'test', exact: true }) })
    const calls = Number(/ (\d+) calls?$/.exec((await bar.first().textContent()) ?? '')?.[1])
    await bar.first().getByRole('link').click()
    const query = { caller_id: keyId, from: midnight(), limit: 1000 }
    const { items } = await gateway.calls.history(query)
    assert.equal(await callsListed(page), items.length)
    assert.equal(items.filter(({ status }) => status !== 'refused').length, calls)
    await page.close()
  })

  it('has one crosshair over its charts, and leads from an hour to its calls', async () => {
    const page = await console.open('#/overview', { width: 1440 })
    const over = page.locator('.strips .u-over')
    await over.nth(3).hover()
    const lines = page.locator('.strips .u-cursor-x')
    const at = await lines.evaluateAll((all) => all.map((one) => (one as HTMLElement).style.transform))
    assert.equal(at.length, 4)
    assert.equal(new Set(at).size, 1, at.join(' '))
    await over.first().click()
    await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
    const query = new URLSearchParams(page.url().split('?')[1])
    assert.equal(Date.parse(query.get('to') ?? '') - Date.parse(query.get('from') ?? ''), 3_600_000)
    await page.close()
  })

  it('shows failed calls with what to do, and a new one without a reload', async () => {
    const page = await console.open('#/overview')
    const errors = page.getByRole('list', { name: 'Needs you' })
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
    const errors = page.getByRole('list', { name: 'Needs you' })
    const row = errors.getByRole('listitem').filter({ hasText: 'elsewhere' })
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

  it('names the key that runs out within a day', async () => {
    const { keys, calls } = console.platform.gateway
    const limits = { credit_limit_usd: 0 }
    const { record } = await keys.create({ name: 'dry', scopes: ['platform'], limits })
    await keys.create({ name: 'never used', scopes: ['platform'], limits })
    const [last] = (await calls.history({ limit: 1, status: 'ok' })).items
    assert.ok(last, 'there are calls')
    const at = new Date().toISOString()
    calls.record({ ...last, call_id: newId('call'), at, caller_id: record.id, upstream_cost_usd: 1 })
    await calls.flush()
    const reply = await ask(console.platform, 'GET', '/api/keys/burn', { key: console.platform.admin })
    const { items } = (await reply.json()) as { items: Burn[] }
    const spent = items.find(({ id }) => id === record.id)?.burned_24h_usd ?? 0
    assert.ok(spent >= 1, `${spent}`)
    const page = await console.open('#/overview')
    const needs = page.getByRole('list', { name: 'Needs you' })
    const need = needs.getByRole('listitem').filter({ hasText: 'dry has run out' })
    await need.getByText(`It spent $${spent.toFixed(2)} in 24 hours`).waitFor()
    assert.equal(await needs.getByText('never used').count(), 0)
    await need.getByRole('link').click()
    await page.getByRole('heading', { name: 'dry', level: 1 }).waitFor()
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
