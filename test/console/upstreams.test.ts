import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as double from '../doubles/upstream.ts'
import { type ConsoleUnderTest, hasFocus, inspect, press, startConsole, WITHOUT_BROWSER } from './browser.ts'

describe('upstreams and routes, in the console', { skip: WITHOUT_BROWSER }, () => {
  let one: double.UpstreamDouble
  let under: ConsoleUnderTest
  before(async () => {
    one = await double.startUpstream()
    one.on('/chat/completions', double.json(200, double.completion('A word.')))
    one.on('/models', double.json(200, { data: [{ id: 'm-1' }] }))
    under = await startConsole('sandbox', {
      document: {
        upstreams: { one: { provider: one.url, api_keys: ['key-of-one-number-1'] }, groq: {} },
        routes: [
          { model: 'smart', to: [{ upstream: 'one', model: 'm-1', weight: 3 }, 'default'], hedge_after_ms: 4000 },
        ],
      },
    })
  })
  after(async () => {
    under.assertClean()
    await under.close()
    await one.close()
  })

  const config = () => under.platform.gateway.loaded.config

  it('shows states, tests a candidate, and edits routes with a dry run of what is not saved', async () => {
    const page = await under.open('#/upstreams')
    const table = page.getByRole('table', { name: 'Upstreams' })
    await table.getByRole('row', { name: /^one answers/ }).waitFor()
    await table.getByRole('row', { name: /^groq no key/ }).waitFor()
    const candidates = page.getByRole('table', { name: 'Candidates' }).getByRole('row')
    await page.getByLabel('Model in a request').fill('smart')
    await page.getByText('smart is sent to these candidates, by route 1:').waitFor()
    await inspect(page, 'upstreams')
    await page.getByRole('button', { name: 'Test one with m-1' }).click()
    await page.getByRole('status').filter({ hasText: 'A word.' }).waitFor()

    const first = page.getByRole('group', { name: 'Route 1' })
    assert.equal(await first.getByLabel('Upstream', { exact: true }).first().inputValue(), 'one')
    assert.equal(await first.getByLabel('Upstream model').first().inputValue(), 'm-1')
    await page.getByRole('button', { name: 'Add a route' }).click()
    const second = page.getByRole('group', { name: 'Route 2' })
    await second.getByLabel('Model', { exact: true }).fill('s*')
    await second.getByLabel('Upstream', { exact: true }).selectOption('groq')
    await press(page.getByRole('button', { name: 'Add a candidate to route 2' }))
    await second.getByLabel('Upstream model').nth(1).fill('llm-3-fast')
    const up = page.getByRole('button', { name: 'Move route 2 up' })
    await press(up)
    await hasFocus(page.getByRole('button', { name: 'Move route 1 up' }))
    await candidates.filter({ hasText: /groq.*API key missing/ }).waitFor()
    await candidates.filter({ hasText: /default.*llm-3-fast.*tried/ }).waitFor()
    assert.equal(config().routes.length, 1, 'a dry run changes nothing')

    const model = first.getByLabel('Upstream model').nth(1)
    await model.press('Alt+ArrowUp')
    await hasFocus(first.getByLabel('Upstream model').first())
    await page.getByLabel('Hedged after').first().fill('0')
    await page.getByRole('button', { name: 'Save routes' }).click()
    await page
      .getByText(/routes\.0\.hedge_after_ms: .*must be/)
      .first()
      .waitFor()
    await page.getByLabel('Hedged after').first().fill('2500')
    await page.getByRole('button', { name: 'Save routes' }).click()
    await page.getByText('Saved and applied.').waitFor()
    assert.deepEqual(
      config().routes.map(({ model: glob, to, hedge_after_ms }) => [glob, to, hedge_after_ms]),
      [
        ['s*', ['default/llm-3-fast', 'groq'], 2500],
        ['smart', [{ upstream: 'one', model: 'm-1', weight: 3 }, 'default'], 4000],
      ],
    )
    await page.close()
  })

  it('moves a route by dragging it', async () => {
    await under.platform.gateway.config.set({ routes: ['a', 'b', 'c'].map((model) => ({ model, to: ['default'] })) })
    const page = await under.open('#/settings/routes')
    const items = page.getByRole('list', { name: 'Routes', exact: true }).locator(':scope > li')
    await items.nth(2).waitFor()
    await items.nth(2).locator('.grip').first().dragTo(items.nth(0))
    await page.getByRole('button', { name: 'Save routes' }).click()
    await page.getByText('Saved and applied.').waitFor()
    assert.deepEqual(
      config().routes.map(({ model }) => model),
      ['c', 'a', 'b'],
    )
    await page.close()
  })

  it('adds an upstream by the keyboard: its key is tested, its models are listed with prices, and it is saved', async () => {
    await under.platform.gateway.config.set({ 'pricing.models.m-1': { input: 2, output: 8 } })
    const page = await under.open('#/upstreams')
    await press(page.getByRole('link', { name: 'Add an upstream' }))
    await page.getByLabel('Provider', { exact: true }).selectOption('Other (base URL)')
    await page.getByLabel('Base URL').fill(one.url)
    await page.getByLabel('Name', { exact: true }).fill('two')
    one.on('/models', double.json(401, { error: { message: 'No.' } }), double.json(200, { data: [{ id: 'm-1' }] }))
    await page.getByLabel('API key').fill('key-of-two-number-1')
    await page.keyboard.press('Enter')
    await page.getByText(/answered 401: check its key/).waitFor()
    await inspect(page, 'upstream-refused')
    one.on('/models', double.json(200, { data: [{ id: 'm-1' }] }))
    await page.getByLabel('API key').fill('key-of-two-number-2')
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: /^m-1 2 8/ }).waitFor()
    await page.getByRole('button', { name: 'Test m-1' }).click()
    await page.getByRole('status').filter({ hasText: 'A word.' }).waitFor()
    assert.ok(one.received.some(({ headers }) => headers.authorization === 'Bearer key-of-two-number-2'))
    assert.equal(config().upstreams.two, undefined, 'nothing is saved before')
    await inspect(page, 'upstream-new')
    await press(page.getByRole('button', { name: 'Save upstream' }))
    await page.getByRole('row', { name: /^two/ }).waitFor()
    const { provider, api_keys } = config().upstreams.two ?? {}
    assert.deepEqual([provider, api_keys], [one.url, ['key-of-two-number-2']])
    assert.ok(!(await page.content()).includes('key-of-two'), 'the key is nowhere in the page')
    await page.close()
  })

  it('edits what was changed alone, reorders, and removes', async () => {
    const { gateway } = under.platform
    const page = await under.open('#/upstreams')
    await page.getByRole('button', { name: '↑ moves up groq' }).click()
    await page.getByText('Saved and applied.').waitFor()
    assert.deepEqual(Object.keys(config().upstreams).slice(0, 2), ['groq', 'one'])
    await press(page.getByRole('row', { name: /^one/ }).getByRole('link', { name: 'one', exact: true }))
    await page.getByLabel('Models that it serves').fill('m-*\nn-*')
    await gateway.config.set({ 'upstreams.one.weight': 7 })
    await press(page.getByRole('button', { name: 'Test the key' }))
    await press(page.getByRole('button', { name: 'Save upstream' }))
    await page.getByRole('row', { name: /^one/ }).waitFor()
    const { weight, models, api_keys } = config().upstreams.one ?? {}
    assert.deepEqual([weight, models, api_keys], [7, ['m-*', 'n-*'], ['key-of-one-number-1']])
    await page.getByRole('button', { name: 'Remove groq' }).click()
    await page.getByRole('button', { name: 'Remove upstream' }).click()
    await page.getByRole('row', { name: /^groq/ }).waitFor({ state: 'detached' })
    assert.equal(config().upstreams.groq, undefined)
    await page.close()
  })

  it('shows the checks of doctor, each with where to mend it', async () => {
    one.on('/models', double.json(401, { error: { message: 'No.' } }))
    const page = await under.open('#/doctor')
    const item = page.getByRole('listitem').filter({ hasText: 'upstream one' })
    await item.getByText(/check its key/).waitFor()
    await page.getByRole('heading', { name: /checks need a look/ }).waitFor()
    await inspect(page, 'doctor')
    await press(item.getByRole('link', { name: 'Edit the upstream' }))
    await page.getByRole('heading', { name: 'one', level: 1 }).waitFor()
    await page.getByLabel('API key').fill('key-of-one-number-2')
    one.on('/models', double.json(200, { data: [{ id: 'm-1' }] }))
    await page.keyboard.press('Enter')
    await press(page.getByRole('button', { name: 'Save upstream' }))
    await page.getByText('Saved and applied.').waitFor()
    await page.goto(`${under.platform.url}/#/doctor`)
    await item.getByText('ok').waitFor()
    await page.close()
  })

  it('has on the page of a call what mends it: the key, the circuit, the route', async () => {
    const { gateway, gatewayUrl, admin } = under.platform
    await gateway.config.set({
      upstreams: { three: { provider: one.url, api_keys: ['key-of-three-number-1'] } },
      routes: [{ model: 'pair', to: ['three/m-1', 'default/llm-3-fast'] }],
    })
    const ask = async (model: string) => {
      const reply = await fetch(`${gatewayUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${admin}` },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
      })
      await reply.text()
      return reply.headers.get('x-gazeway-call-id') ?? ''
    }
    one.on('/chat/completions', double.fails(503))
    for (let i = 0; i < 10; i++) await ask('three/m-1')
    const skipping = await ask('pair')
    one.on('/chat/completions', double.json(200, double.completion('A word.')))
    await gateway.calls.flush()
    const page = await under.open(`#/calls/${skipping}`)
    await page.getByText('three: circuit breaker open').waitFor()
    await inspect(page, 'call-skipped')
    await press(page.getByRole('button', { name: 'Try it and close its circuit three with m-1' }))
    await page.getByRole('status').filter({ hasText: 'A word.' }).waitFor()
    assert.deepEqual((await gateway.upstreamStates()).find(({ name }) => name === 'three')?.open_circuits, [])

    // It is reachable, and its list of models is there: what it answered decides.
    await page.goto(`${under.platform.url}/#/upstreams`)
    await page.getByRole('row', { name: /^three most calls fail/ }).waitFor()

    one.on('/chat/completions', double.json(401, { error: { message: 'No.' } }))
    const refused = await ask('three/m-1')
    await gateway.calls.flush()
    await page.goto(`${under.platform.url}/#/calls/${refused}`)
    await press(page.getByRole('link', { name: 'Replace the key' }).first())
    await page.getByRole('heading', { name: 'three', level: 1 }).waitFor()
    await page.goto(`${under.platform.url}/#/upstreams/sandbox`)
    await page.getByRole('tab', { name: 'Providers', selected: true }).waitFor()
    await page.goto(`${under.platform.url}/#/upstreams/gone`)
    await page.getByText('No upstream gone').waitFor()
    await page.close()
  })

  it('is for admins', async () => {
    const page = await under.open('#/upstreams', { key: under.platform.key })
    await page.getByText('Admin key required').waitFor()
  })
})
