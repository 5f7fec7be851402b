import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as double from '../doubles/upstream.ts'
import { type ConsoleUnderTest, inspect, startConsole, WITHOUT_BROWSER } from './browser.ts'

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

  it('shows states, tests a candidate, and edits routes', async () => {
    const page = await under.open('#/upstreams')
    const table = page.getByRole('table', { name: 'Upstreams' })
    await table.getByRole('row', { name: /^one answers/ }).waitFor()
    await table.getByRole('row', { name: /^groq no key/ }).waitFor()
    await inspect(page, 'upstreams')

    await page.getByLabel('Model', { exact: true }).first().fill('smart')
    await page.getByRole('button', { name: 'Show candidates' }).click()
    await page.getByText('smart is sent to these candidates, by route 1:').waitFor()
    await page.getByRole('button', { name: 'Test one with m-1' }).click()
    await page.getByRole('status').filter({ hasText: 'A word.' }).waitFor()

    const first = page.getByRole('group', { name: 'Route 1' })
    assert.equal(await first.getByLabel('Candidates').inputValue(), 'one/m-1 weight 3\ndefault')
    await page.getByRole('button', { name: 'Add a route' }).click()
    const second = page.getByRole('group', { name: 'Route 2' })
    await second.getByLabel('Model').fill('s*')
    await second.getByLabel('Candidates').fill('nobody/x')
    await page.getByRole('button', { name: 'Move route 2 up' }).click()
    await page.getByRole('button', { name: 'Save routes' }).click()
    await page.getByText(/routes\.0\.to\.0: unknown upstream nobody/).waitFor()
    await first.getByLabel('Candidates').fill('default/llm-3-fast')
    await first.getByLabel('Hedged after').fill('2500')
    await page.getByRole('button', { name: 'Save routes' }).click()
    await page.getByText('Saved and applied.').waitFor()
    const { routes } = under.platform.gateway.loaded.config
    assert.deepEqual(
      routes.map(({ model, to, hedge_after_ms }) => [model, to, hedge_after_ms]),
      [
        ['s*', ['default/llm-3-fast'], 2500],
        ['smart', [{ upstream: 'one', model: 'm-1', weight: 3 }, 'default'], 4000],
      ],
    )
    await page.getByRole('row', { name: /^default llm-3-fast/ }).waitFor()
  })

  it('is for admins', async () => {
    const page = await under.open('#/upstreams', { key: under.platform.key })
    await page.getByText('Admin key required').waitFor()
  })
})
