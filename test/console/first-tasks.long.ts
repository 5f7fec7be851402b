import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { NewTask } from '../../src/tasks/tasks.ts'
import { newId } from '../../src/text/ids.ts'
import { ask } from '../adapters/platform.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { type ConsoleUnderTest, startConsole, WITHOUT_BROWSER } from './browser.ts'

const CHAT = '/chat/completions'
const METERED = 'llm-4-1-fast-reasoning'
/** Acts of a task: keys, texts, and rows of Tab. Those of a form have more. */
const MOST_ACTS = 10
/** Presses of Tab within which a control is reached. */
const MOST_TABS = 60

describe('what an operator does first, by the keyboard alone', { skip: WITHOUT_BROWSER }, () => {
  let one: double.UpstreamDouble
  let two: double.UpstreamDouble
  let under: ConsoleUnderTest
  let page: Page
  /** Keys pressed, and texts typed. */
  let steps: string[]

  before(async () => {
    one = await double.startUpstream()
    two = await double.startUpstream()
    one.on(CHAT, double.json(503, { error: { message: 'overloaded' } }))
    two.on(CHAT, double.json(200, double.completion('Hello.')))
    two.on('/models', double.json(200, { data: [{ id: 'their-model' }] }))
    const upstreams = { two: { provider: two.url, api_keys: ['key-of-two-number-1'] } }
    const routes = ['smart', METERED].map((model) => ({ model, to: ['two/their-model'] }))
    const pricing = { models: { 'their-model': { input: 750_000, output: 3 } } }
    under = await startConsole(one.url, { document: { upstreams, routes, pricing } })
    const { gateway, keyId, admin } = under.platform
    const limits = { credit_limit_usd: 50, budgets: [{ usd: 40, per: 'week' as const }] }
    const terms = { scopes: ['inference' as const], billing: 'cost' as const, models: ['smart', 'other'], limits }
    const { key: ada } = await gateway.keys.create({ name: 'ada', ...terms })
    for (const model of ['smart', 'other']) await chat(ada, model)
    await post(
      '/api/coding-sessions/work/facts',
      { repository: 'https://github.com/ann/shop.git', branch: 'fix/rounding' },
      ada,
    )
    await gateway.wallet.deposit({ caller_id: keyId, amount_usd: 20, reference: 'first' })
    const task = await gateway.tasks.create(NewTask.parse({ title: 'Draw the map', reward_usd: 2 }), keyId)
    const worker = await gateway.keys.create({ name: 'worker', scopes: ['platform'] })
    const { claim_token } = await post(`/api/tasks/${task.id}/claim`, { agent: 'bob' }, worker.key)
    await post(`/api/tasks/${task.id}/complete`, { agent: 'bob', claim_token, result: 'Done.' }, worker.key)
    const records = humanStream(7, { start: new Date().toISOString() })
    await gateway.gaze.store({ task_id: task.id, records }, keyId)
    await post('/api/memory', { key: 'deploy/staging', value: 'uses the eu-west cluster' }, admin)
    await seedEarlier()
    await gateway.calls.flush()
    page = await under.open('#/overview', { key: admin, width: 1440 })
  })
  beforeEach(async () => {
    steps = []
    await page.goto(`${under.platform.url}/#/overview`)
    await page.locator('.stat').first().waitFor()
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  })
  after(async () => {
    under.assertClean()
    await under.close()
    await one.close()
    await two.close()
  })

  /** A dear call of yesterday among others, a key that was not used for long, and a call of a group with its receipt. */
  async function seedEarlier(): Promise<void> {
    const { gateway } = under.platform
    const [call] = (await gateway.calls.history({ limit: 1 })).items
    assert.ok(call)
    for (const [hours, cost] of [
      [24, 2.5],
      [24, 0.4],
      [72, 3],
    ] as const) {
      const at = new Date(Date.now() - hours * 3_600_000).toISOString()
      gateway.calls.record({ ...call, call_id: newId('call'), at, status: 'ok', upstream_cost_usd: cost })
    }
    const { record } = await gateway.keys.create({ name: 'forgotten', scopes: ['platform'] })
    const created_at = new Date(Date.now() - 40 * 24 * 3_600_000).toISOString()
    await gateway.store.db.updateTable('keys').set({ created_at }).where('id', '=', record.id).execute()
    const { id: group } = await gateway.groups.create({ name: 'painters', budgets: [] })
    const limits = { credit_limit_usd: 50 }
    const { key } = await gateway.keys.create({ name: 'cleo', scopes: ['platform'], group, limits })
    await post('/api/wallet/metered/call', { model: METERED, prompt: 'Hello', max_tokens: 5, caller_id: key }, key)
  }

  async function post(path: string, body: object, key: string): Promise<Record<string, string>> {
    const reply = await ask(under.platform, 'POST', path, { key, body })
    assert.ok(reply.ok, `${path}: ${await reply.clone().text()}`)
    return (await reply.json()) as Record<string, string>
  }
  async function chat(key: string, model: string): Promise<void> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-gazeway-session': 'work' }
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })
    await (await fetch(`${under.platform.gatewayUrl}/v1${CHAT}`, { method: 'POST', headers, body })).text()
  }

  async function press(key: string): Promise<void> {
    steps.push(key)
    await page.keyboard.press(key)
  }
  async function type(text: string): Promise<void> {
    steps.push(`“${text}”`)
    await page.keyboard.type(text)
  }
  /** Presses Tab until a control has the focus. */
  async function tabTo(control: Locator): Promise<void> {
    await control.first().waitFor()
    const isReached = () => control.first().evaluate((element) => element === document.activeElement)
    let tabs = 0
    for (; !(await isReached()); tabs++) {
      assert.ok(tabs < MOST_TABS, `not reached by ${MOST_TABS} times Tab: ${control}`)
      await page.keyboard.press('Tab')
    }
    if (tabs > 0) steps.push(`Tab ×${tabs}`)
  }
  /** Finds a place in the palette. */
  async function find(text: string, option: RegExp): Promise<void> {
    await press('Control+k')
    await page.getByRole('combobox').waitFor()
    await type(text)
    const wanted = page.getByRole('option').filter({ hasText: option }).first()
    await wanted.waitFor()
    for (let i = 0; i < 20 && (await wanted.getAttribute('aria-selected')) !== 'true'; i++) await press('ArrowDown')
    await press('Enter')
  }
  async function act(control: Locator): Promise<void> {
    await tabTo(control)
    await press('Enter')
  }
  /** Steps and time of a task, which are not judged here: a loaded machine says nothing of a person. */
  function tell(t: TestContext, since: number, most = MOST_ACTS): void {
    assert.ok(steps.length <= most, `${steps.length} acts: ${steps.join(', ')}`)
    t.diagnostic(`${steps.length} steps in ${((performance.now() - since) / 1000).toFixed(1)} s: ${steps.join(', ')}`)
  }

  it('why did this call fail', async (t) => {
    const since = performance.now()
    await act(page.getByRole('list', { name: 'Needs you' }).getByRole('link', { name: /answered 503/ }))
    await page.getByRole('heading', { name: 'Call', level: 1 }).waitFor()
    await page
      .getByText(/answered 503 for other/)
      .first()
      .waitFor()
    await page
      .getByText(/Transient error at/)
      .first()
      .waitFor()
    tell(t, since)
  })

  it('who runs out this week', async (t) => {
    const since = performance.now()
    await find('time left', /Pages.*Time left/)
    const row = page.getByRole('table').first().getByRole('row').filter({ hasText: 'ada' })
    await row.waitFor()
    assert.match((await row.textContent()) ?? '', / (days|h)/)
    tell(t, since)
  })

  it('what did this branch cost', async (t) => {
    const since = performance.now()
    await find('fix/rounding', /Sessions.*branch/)
    const row = page.getByRole('table', { name: 'Sessions' }).getByRole('row').nth(1)
    await row.getByText('fix/rounding').waitFor()
    assert.match((await row.textContent()) ?? '', /\$\d+\.\d\d/)
    tell(t, since)
  })

  it('pay a finished task', async (t) => {
    const since = performance.now()
    await find('escrow', /Pages.*Escrow/)
    await act(page.getByRole('button', { name: /^Release/ }))
    const dialog = page.getByRole('dialog')
    await act(dialog.getByRole('button', { name: 'Release $2.00' }))
    await page.getByText('$2.00 moved to worker.').waitFor()
    tell(t, since)
  })

  it('add a provider and move a model to it', async (t) => {
    const since = performance.now()
    await find('add a provider', /Actions.*Add a provider/)
    await tabTo(page.getByLabel('Provider', { exact: true }))
    await type('Other')
    await tabTo(page.getByLabel('Base URL'))
    await type(two.url)
    // The proposed name stays.
    const name = await page.getByLabel('Name', { exact: true }).inputValue()
    await tabTo(page.getByLabel('API key'))
    await type('key-of-three-number-1')
    await press('Enter')
    await page.getByRole('row', { name: /^their-model/ }).waitFor()
    await act(page.getByRole('button', { name: 'Save upstream' }))
    await page.getByRole('row', { name: new RegExp(`^${name}`) }).waitFor()
    await tabTo(page.getByRole('group', { name: 'Route 1' }).getByLabel('Upstream', { exact: true }))
    await type(name)
    await act(page.getByRole('button', { name: 'Save routes' }))
    const moved = () => JSON.stringify(under.platform.gateway.loaded.config.routes).includes(name)
    await until(moved, { what: 'the route to the new upstream' })
    // A form of four fields.
    tell(t, since, 16)
  })

  it('export a customer’s month', async (t) => {
    const since = performance.now()
    await find('ada', /Keys.*ada/)
    const saved = page.waitForEvent('download')
    await act(page.getByRole('button', { name: /^Statement of / }))
    assert.match((await saved).suggestedFilename(), /^statement-\d{4}-\d\d\.csv$/)
    tell(t, since)
  })

  it('find a memory and correct it', async (t) => {
    const since = performance.now()
    await find('staging', /Memories.*deploy\/staging/)
    await act(page.getByRole('button', { name: 'Edit' }))
    await tabTo(page.getByRole('dialog').getByLabel('Value'))
    await press('Control+a')
    await type('uses the eu-central cluster')
    await press('Control+Enter')
    await page.getByRole('region', { name: 'Text of the value' }).getByText('eu-central').waitFor()
    tell(t, since)
  })

  it('find all calls of yesterday that cost over $1', async (t) => {
    const since = performance.now()
    await find('calls', /Pages.*Calls/)
    await tabTo(page.getByLabel('Cost from $'))
    await type('1')
    await page.getByRole('list', { name: 'Calls by day' }).getByRole('link', { name: /: 1$/ }).last().waitFor()
    await tabTo(page.getByRole('list', { name: 'Calls by day' }).getByRole('link').last())
    await press('ArrowLeft')
    await press('Enter')
    const rows = page.getByRole('table', { name: 'Calls' }).getByRole('row')
    await until(async () => (await rows.count()) === 2, { what: 'the one call of yesterday', seconds: 30 })
    await rows.nth(1).getByText('$2.50').waitFor()
    tell(t, since)
  })

  it('why is this upstream resting', async (t) => {
    const since = performance.now()
    await find('upstreams', /Pages.*Upstreams/)
    await act(page.getByRole('link', { name: 'errors of default' }))
    await act(page.getByRole('table', { name: 'Calls' }).getByRole('link'))
    await page
      .getByText(/answered 503 for other/)
      .first()
      .waitFor()
    tell(t, since)
  })

  it('which key has not been used for a month', async (t) => {
    const since = performance.now()
    await find('not used', /Actions.*not used for 30 days/)
    const rows = page.getByRole('table', { name: 'Keys' }).getByRole('row')
    await rows.nth(1).getByText('forgotten').waitFor()
    await until(async () => (await rows.count()) === 2, { what: 'the one key', seconds: 30 })
    tell(t, since)
  })

  it('export the receipts of a group', async (t) => {
    const since = performance.now()
    await find('painters', /Keys.*painters/)
    await act(page.getByRole('link', { name: 'all receipts' }))
    await page.getByRole('table', { name: 'Receipts, newest first' }).getByText('cleo').waitFor()
    const saved = page.waitForEvent('download')
    await act(page.getByRole('button', { name: 'Download CSV' }))
    assert.equal((await saved).suggestedFilename(), 'receipts.csv')
    tell(t, since)
  })

  it('revoke a leaked key and see what it did', async (t) => {
    const since = performance.now()
    await find('ada', /Keys.*ada/)
    await act(page.getByRole('button', { name: 'Revoke', exact: true }))
    await act(page.getByRole('dialog').getByRole('button', { name: 'Revoke and show what it did' }))
    await page.getByText('revoked', { exact: true }).waitFor()
    await page.getByRole('table', { name: 'Addresses' }).getByText('127.0.0.1').waitFor()
    tell(t, since)
  })
})
