import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ask } from '../adapters/platform.ts'
import { json, startUpstream } from '../doubles/upstream.ts'
import {
  type ConsoleUnderTest,
  hasFocus,
  inspect,
  loseReply,
  press,
  signIn,
  startConsole,
  WITHOUT_BROWSER,
} from './browser.ts'

describe('the settings', { skip: WITHOUT_BROWSER }, () => {
  let console: ConsoleUnderTest

  before(async () => {
    console = await startConsole()
  })
  after(() => console.close())

  const shown = async () => {
    const reply = await ask(console.platform, 'GET', '/api/config', { key: console.platform.admin })
    return ((await reply.json()) as { config: { audit: Record<string, unknown>; upstream: Record<string, unknown> } })
      .config
  }

  it('change a setting, in force at once', async () => {
    const page = await console.open('#/settings/all')
    await page.getByLabel('Find a setting').fill('audit')
    await page.getByLabel('audit.retention_days').fill('30')
    await page.getByLabel('audit.store_content').selectOption('true')
    await page.getByText('2 changes').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved and applied.').waitFor()
    const { audit } = await shown()
    assert.equal(audit.retention_days, 30)
    assert.equal(audit.store_content, true)
    assert.equal(console.platform.gateway.loaded.config.audit.retention_days, 30)

    await page.getByRole('button', { name: 'Reset audit.retention_days to its default' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('1 change').waitFor({ state: 'detached' })
    assert.equal((await shown()).audit.retention_days, null)
    await page.close()
  })

  it('refuse a wrong value at its field, and change nothing', async () => {
    const page = await console.open('#/settings/all')
    await page.getByLabel('audit.retention_days').fill('0')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').filter({ hasText: 'a whole number from 1 to 36500' }).waitFor()
    assert.equal(await page.getByLabel('audit.retention_days').getAttribute('aria-invalid'), 'true')
    for (const none of ['many', 'Infinity']) {
      await page.getByLabel('audit.retention_days').fill(none)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('This is not a number.').waitFor()
      await page.getByRole('button', { name: 'Discard' }).click()
    }
    assert.equal((await shown()).audit.retention_days, null)
    await page.close()
  })

  it('say what waits for a restart, and what a flag is over', async () => {
    const page = await console.open('#/settings/all')
    await page.getByLabel('http.header_timeout_ms').fill('9000')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Restart required for').waitFor()
    await page.getByText('--upstream takes precedence').waitFor()
    await inspect(page, 'settings-all')
    await page.close()
  })

  it('stand by task, each once, with the checks beside them', async () => {
    const { gateway } = console.platform
    await gateway.config.set({ 'alerts.webhook_url': 'http://127.0.0.1:9/' })
    const page = await console.open('#/settings')
    const tabs = page.getByRole('tablist', { name: 'Settings' }).getByRole('tab')
    const seen: string[] = []
    await tabs.first().waitFor()
    for (let at = 0; at < (await tabs.count()) - 1; at++) {
      await tabs.nth(at).click()
      const name = (await tabs.nth(at).textContent()) ?? ''
      await page.getByRole('tab', { name, exact: true, selected: true }).waitFor()
      if (name !== 'Routes')
        await page.locator('.schema-parts > legend, .field label').filter({ hasText: '.' }).first().waitFor()
      const labels = await page
        .locator('form > .card > .fields > .field > label, form > .card > .fields > .schema-parts > legend')
        .allTextContents()
      seen.push(...labels)
      if (name === 'Budgets') {
        await page.getByText('alerts: not sent: set both alerts.webhook_url and alerts.webhook_secret.').waitFor()
        await inspect(page, 'settings-budgets')
      }
      if (name === 'Payments and chain') await inspect(page, 'settings-payments')
    }
    const { items } = (await (
      await ask(console.platform, 'GET', '/api/config/keys', { key: console.platform.admin })
    ).json()) as { items: { key: string }[] }
    const others = ['upstreams', 'routes']
    assert.deepEqual(seen.toSorted(), items.flatMap(({ key }) => (others.includes(key) ? [] : [key])).toSorted())
    await gateway.config.set({ 'alerts.webhook_url': null })
    await page.close()
  })

  it('are edited by their schema, without JSON: lists, entries of objects, and what is wrong in one of them', async () => {
    const { gateway } = console.platform
    const page = await console.open('#/settings/prices')
    const prices = page.getByRole('group', { name: 'pricing.models' })
    await prices.getByRole('textbox', { name: 'Name of a new entry' }).first().waitFor()
    const name = prices.getByRole('textbox', { name: 'Name of a new entry' }).last()
    await name.fill('m-1.5')
    await press(prices.getByRole('button', { name: 'Add' }).last())
    const model = prices.getByRole('group', { name: 'm-1.5' })
    await model.getByLabel('Input', { exact: true }).first().fill('much')
    await model.getByLabel('Output', { exact: true }).first().fill('8')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('This is not a number.').waitFor()
    await inspect(page, 'settings-prices')
    await model.getByLabel('Input', { exact: true }).first().fill('-1')
    await page.getByRole('button', { name: 'Save' }).click()
    await model.getByRole('alert').filter({ hasText: 'must be' }).waitFor()
    await model.getByLabel('Input', { exact: true }).first().fill('2')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved and applied.').waitFor()
    assert.deepEqual(gateway.loaded.config.pricing.models['m-1.5'], { input: 2, output: 8 })

    await gateway.config.set({ 'pricing.models.theirs': { input: 1, output: 1 } })
    await page.getByRole('button', { name: 'Remove m-1.5' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('1 change').waitFor({ state: 'detached' })
    assert.deepEqual(Object.keys(gateway.loaded.config.pricing.models), ['theirs'])

    await page.goto(`${console.platform.url}/#/settings/operation`)
    await page.getByLabel('http.allowed_hosts').fill('one.example\n\ntwo.example')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('1 change').waitFor({ state: 'detached' })
    assert.deepEqual(gateway.loaded.config.http.allowed_hosts, ['one.example', 'two.example'])
    await page.close()
  })

  it('never show a secret, and keep it when it is not replaced', async () => {
    const page = await console.open('#/settings/all')
    await page.getByLabel('agent_gateway.key').fill('a-secret-for-the-gateway')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved').waitFor()
    await page.reload()
    const field = page.getByRole('textbox', { name: 'agent_gateway.key' })
    assert.equal(await field.inputValue(), '')
    assert.equal(await field.getAttribute('type'), 'password')
    assert.ok(!(await page.content()).includes('a-secret-for-the-gateway'), 'the secret is nowhere in the page')
    assert.equal(console.platform.gateway.loaded.config.agent_gateway.key, 'a-secret-for-the-gateway')
    await page.close()
  })

  it('change which model does what, and the names of models', async () => {
    const page = await console.open('#/settings/providers')
    await page.getByLabel('upstream.models.chat').fill('fast')
    await page.getByLabel('upstream.aliases').fill('fast = llm-3-fast')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved').waitFor()
    const { upstream } = await shown()
    assert.equal((upstream.models as { chat: string }).chat, 'fast')
    assert.deepEqual(upstream.aliases, { fast: 'llm-3-fast' })
    await inspect(page, 'settings-providers')
    await page.close()
  })

  it('keep a key with the provider that is shown beside it, which a flag names', async () => {
    const upstream = await startUpstream()
    upstream.on('/models', json(200, { object: 'list', data: [] }))
    const flagged = await startConsole(upstream.url, { env: { GAZEWAY_UPSTREAM_API_KEY: '' } })
    const page = await flagged.open('#/settings/providers')
    await page.getByLabel('upstream.api_key').fill('key-of-theirs')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved').waitFor()
    const { dataDir, config } = flagged.platform.gateway.loaded
    assert.equal(config.upstream.api_key, 'key-of-theirs')
    const { aliases, ...kept } = JSON.parse(readFileSync(join(dataDir, 'config.json'), 'utf8')).upstream
    assert.deepEqual(kept, { provider: upstream.url, api_key: 'key-of-theirs' })
    assert.deepEqual(aliases, config.upstream.aliases)
    await page.close()
    await flagged.close()
    await upstream.close()
  })

  it('leave model names unchanged that were not edited, also when others changed them', async () => {
    const { gateway, admin } = console.platform
    const tuned = 'ft:base?v=2&k=1'
    const body = { aliases: { tuned, 'llm-4.20': 'grok-4', gone: 'grok-3' } }
    await ask(console.platform, 'POST', '/api/config/model', { key: admin, body })
    const page = await console.open('#/settings/providers')
    const names = page.getByRole('textbox', { name: 'upstream.aliases' })
    await names.fill((await names.inputValue()).replace('gone = grok-3', 'mine = a=b'))
    await ask(console.platform, 'POST', '/api/config', { key: admin, body: { 'upstream.aliases.theirs': 'grok-2' } })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved').waitFor()
    const { aliases } = gateway.loaded.config.upstream
    assert.deepEqual(aliases, { tuned, 'llm-4.20': 'grok-4', mine: 'a=b', theirs: 'grok-2' })
    await page.close()
  })

  it('make a key that is shown once and works, list it, and revoke it', async () => {
    const page = await console.open('#/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('laptop')
    await page.getByLabel('Platform: wallet').check()
    await page.getByRole('button', { name: 'Add a budget' }).click()
    await page.getByLabel('Budget 1 in USD').fill('2.5')
    await inspect(page, 'settings-new-key')
    await page.getByRole('button', { name: 'Create key' }).click()
    const key = (await page.locator('.copy code').textContent()) ?? ''
    assert.match(key, /^gzw_/)
    await page.getByRole('button', { name: 'Done' }).click()
    assert.ok(!(await page.content()).includes(key), 'the key is gone from the page')

    const other = await console.open('', { key: null })
    await signIn(other, key)
    const row = page.getByRole('row', { name: /laptop/ })
    await row.getByText('$2.50').waitFor()
    await row.getByRole('link', { name: 'laptop' }).click()
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('button', { name: 'Revoke and show what it did' }).click()
    await page.getByText('revoked', { exact: true }).waitFor()
    await page.goBack()
    await row.getByText('revoked').waitFor()
    await other.getByText('This key was revoked').waitFor()
    await inspect(page, 'settings-keys')
    await other.close()
    await page.close()
  })

  it('make a key with all that it is held to, and say what is wrong with a field beside it', async () => {
    const { gateway } = console.platform
    const { id: group } = await gateway.groups.create({ name: 'makers' })
    const page = await console.open('#/keys')
    const dialog = page.getByRole('dialog')
    const make = dialog.getByRole('button', { name: 'Create key' })
    await page.getByRole('button', { name: 'New key' }).click()
    await dialog.getByLabel('Name').fill('held')
    await dialog.getByLabel('Group').selectOption('makers')
    await dialog.getByLabel('Billing').selectOption('cost')
    await dialog.getByLabel('Expires').fill('2020-01-31T12:00')
    await dialog.getByLabel('Models').fill('no-such-*\n\nllm-*')
    for (let i = 1; i <= 3; i++) await dialog.getByRole('button', { name: 'Add a budget' }).click()
    await dialog.getByLabel('Budget 1 in USD').fill('1.5')
    await dialog.getByLabel('Period 2').selectOption('in total')
    await dialog.getByRole('button', { name: 'Remove budget 3' }).click()
    for (const [field, wrong, right] of [
      ['Budget 2 in USD', '', '40'],
      ['Alerts at', '50, 120', '50, 80'],
      ['Credit in USD', 'much', '3'],
      ['Requests per minute', '0', '60'],
      ['Tokens per minute', '1.5', '9000'],
      ['Concurrent calls', '-1', '4'],
      ['Session in USD', '0', '2.5'],
      ['Calls of a session', '0', '200'],
      ['Minutes of a session', '1.5', '90'],
      ['Repeats in a session', 'often', '5/10'],
      ['Expires', '2020-01-31T12:00', '2099-01-31T12:00'],
    ] as const) {
      const control = dialog.getByLabel(field)
      if (field !== 'Expires') await control.fill(wrong)
      await make.click()
      await control.and(page.locator('[aria-invalid]')).waitFor()
      assert.match((await dialog.getByRole('alert').textContent()) ?? '', /must be /, field)
      await control.fill(right)
    }
    await make.click()
    await dialog.getByText('"no-such-*" matches no known model').waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    const made = (await gateway.keys.list({ limit: 1 })).items[0]
    assert.deepEqual(made?.limits, {
      credit_limit_usd: 3,
      budgets: [
        { usd: 1.5, per: 'day' },
        { usd: 40, per: 'total' },
      ],
      requests_per_minute: 60,
      tokens_per_minute: 9000,
      concurrent: 4,
      session_usd: 2.5,
      session_calls: 200,
      session_minutes: 90,
      repeats: { times: 5, minutes: 10 },
    })
    assert.deepEqual([made?.group, made?.billing, made?.models], [group, 'cost', ['no-such-*', 'llm-*']])
    assert.deepEqual(
      made?.alerts.map(({ at }) => at),
      [0.5, 0.8],
    )
    assert.match(made?.expires_at ?? '', /^2099-01-3/)
    const row = page.getByRole('row').filter({ hasText: 'held' })
    await row.getByText('of $40.00').waitFor()
    // The table shows its group below the row, where it is too wide.
    await row.getByRole('button', { name: 'All columns' }).click()
    await page.getByRole('link', { name: 'makers' }).waitFor()
    await page.close()
  })

  it('change of a key what was edited, and leave what another admin has changed meanwhile', async () => {
    const { keys, groups } = console.platform.gateway
    await groups.create({ name: 'movers' })
    const { record } = await keys.create({
      name: 'edited',
      scopes: ['inference'],
      models: ['llm-*'],
      expires_at: '2099-01-31T12:34:56.789Z',
      limits: { budgets: [{ usd: 5, per: 'day' }], requests_per_minute: 10, tokens_per_minute: 1000, concurrent: 2 },
    })
    const found = async () => (await keys.list({ limit: 100 })).items.find(({ id }) => id === record.id)
    const page = await console.open(`#/keys/${record.id}`)
    const dialog = page.getByRole('dialog', { name: 'Edit edited' })
    const opener = page.getByRole('button', { name: 'Edit' })
    await press(opener)
    await hasFocus(dialog.getByLabel('Name'))
    assert.ok(await dialog.getByRole('button', { name: 'Save key' }).isDisabled(), 'nothing is changed yet')
    await inspect(page, 'settings-edit-key')
    await dialog.getByLabel('Requests per minute').fill('20')
    await dialog.getByLabel('Group').selectOption('movers')
    await keys.change(record.id, {
      models: ['gpt-*'],
      limits: { budgets: [{ usd: 7, per: 'month' }], concurrent: 9, credit_limit_usd: 1 },
    })
    const sent = page.waitForRequest((request) => request.method() === 'PATCH')
    await dialog.getByLabel('Requests per minute').press('Enter')
    const group = (await groups.find('movers'))?.id
    assert.deepEqual((await sent).postDataJSON(), { group, limits: { requests_per_minute: 20 } })
    await dialog.waitFor({ state: 'detached' })
    await hasFocus(opener)
    const changed = await found()
    assert.deepEqual(
      [changed?.group, changed?.models, changed?.expires_at],
      [group, ['gpt-*'], '2099-01-31T12:34:56.789Z'],
    )
    assert.deepEqual(changed?.limits, {
      credit_limit_usd: 1,
      budgets: [{ usd: 7, per: 'month' }],
      requests_per_minute: 20,
      tokens_per_minute: 1000,
      concurrent: 9,
      session_usd: null,
      session_calls: null,
      session_minutes: null,
      repeats: null,
    })

    await page.getByText('of $7.00').waitFor()
    await press(opener)
    await dialog.getByLabel('Tokens per minute').fill('')
    await dialog.getByLabel('Expires').fill('')
    await dialog.getByLabel('Group').selectOption('None')
    await dialog.getByLabel('Models').fill('')
    await dialog.getByRole('button', { name: 'Remove budget 1' }).click()
    await dialog.getByLabel('Models').press('Control+Enter')
    await dialog.waitFor({ state: 'detached' })
    const freed = await found()
    assert.deepEqual([freed?.group, freed?.models, freed?.expires_at], [null, null, null])
    assert.deepEqual([freed?.limits.tokens_per_minute, freed?.limits.budgets], [null, []])
    await page.close()
  })

  it('rotate a key, show the new one once, and stay signed in where it is one’s own', async () => {
    const { keys } = console.platform.gateway
    const { key, record } = await keys.create({ name: 'rotated', scopes: ['admin'] })
    const page = await console.open(`#/keys/${record.id}`, { key })
    const dialog = page.getByRole('dialog')
    const opener = page.getByRole('button', { name: 'Rotate' })
    await press(opener)
    await hasFocus(dialog.getByLabel('Grace period in hours'))
    await dialog.getByLabel('Grace period in hours').fill('1000')
    await page.keyboard.press('Enter')
    await dialog.getByText(/grace_seconds: .*must be/).waitFor()
    await dialog.getByLabel('Grace period in hours').fill('1')
    await page.keyboard.press('Enter')
    await dialog.getByText('The old key works until').waitFor()
    const second = (await dialog.locator('.copy code').textContent()) ?? ''
    assert.equal((await ask(console.platform, 'GET', '/api/keys', { key })).status, 200)
    assert.equal((await ask(console.platform, 'GET', '/api/keys', { key: second })).status, 200)
    await dialog.getByRole('button', { name: 'Done' }).click()

    await loseReply(page, `/api/keys/${record.id}/rotate`)
    await press(opener)
    const rotate = dialog.getByRole('button', { name: 'Rotate key' })
    await rotate.click()
    await dialog.getByText('Gazeway does not answer').waitFor()
    await rotate.click()
    await dialog.getByText('Rotate once more').waitFor()
    await dialog.getByLabel('Grace period in hours').fill('0')
    await rotate.click()
    await dialog.getByText('no longer works').waitFor()
    const last = (await dialog.locator('.copy code').textContent()) ?? ''
    assert.equal((await ask(console.platform, 'GET', '/api/keys', { key: second })).status, 401)
    await dialog.getByRole('button', { name: 'Done' }).click()
    const reload = page.waitForResponse((reply) => reply.url().endsWith(`/api/keys/${record.id}`))
    assert.equal((await reload).status(), 200)
    assert.ok(!(await page.content()).includes(last), 'the key is gone from the page')
    await page.reload()
    await page.getByRole('link', { name: 'Keys' }).last().click()
    await page.getByRole('row', { name: /rotated you/ }).waitFor()
    await page.close()
  })

  it('make a group, change its name, budgets and alerts, and delete it once no key is in it', async () => {
    const { keys, groups } = console.platform.gateway
    const page = await console.open('#/keys/groups')
    const dialog = page.getByRole('dialog')
    await press(page.getByRole('button', { name: 'New group' }))
    await hasFocus(dialog.getByLabel('Name'))
    await page.keyboard.type('team')
    await dialog.getByRole('button', { name: 'Add a budget' }).click()
    await dialog.getByLabel('Budget 1 in USD').fill('0')
    await page.keyboard.press('Enter')
    await dialog.getByLabel('Budget 1 in USD').and(page.locator('[aria-invalid]')).waitFor()
    await dialog.getByLabel('Budget 1 in USD').fill('20')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    const row = page.getByRole('row').filter({ hasText: 'team' })
    await row.getByText('of $20.00').waitFor()
    const made = await groups.find('team')
    assert.deepEqual(made?.budgets, [{ usd: 20, per: 'day' }])
    await inspect(page, 'settings-groups')

    await press(page.getByRole('button', { name: 'New group' }))
    await page.keyboard.type('team')
    await page.keyboard.press('Enter')
    await dialog.getByText('There is a group "team" already').waitFor()
    await dialog.getByLabel('Name').and(page.locator('[aria-invalid]')).waitFor()
    await page.keyboard.press('Escape')

    await row.getByRole('link', { name: 'team' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('Name').fill('team two')
    await dialog.getByLabel('Alerts at').fill('90%')
    await dialog.getByLabel('Session in USD').fill('2.5')
    await groups.change(made?.id ?? '', { budgets: [{ usd: 30, per: 'month' }] })
    await dialog.getByLabel('Name').press('Enter')
    await page.getByRole('heading', { name: 'team two', level: 1 }).waitFor()
    await page.goBack()
    const renamed = page.getByRole('row').filter({ hasText: 'team two' })
    await renamed.getByText('of $30.00').waitFor()
    const changed = await groups.find('team two')
    assert.deepEqual(changed?.alerts, [{ at: 0.9, of: 'budget' }])
    assert.equal(changed?.limits.session_usd, 2.5)

    const { record } = await keys.create({ name: 'member', scopes: ['inference'], group: made?.id ?? '' })
    await page.getByRole('button', { name: 'Delete team two' }).click()
    await dialog.getByRole('button', { name: 'Delete group' }).click()
    await dialog.getByText('1 key is in this group').waitFor()
    await keys.change(record.id, { group: null })
    await dialog.getByRole('button', { name: 'Delete group' }).click()
    await renamed.waitFor({ state: 'detached' })
    assert.equal(await groups.find('team two'), null)
    await page.close()
  })

  it('show a key that is being made, whatever is pressed meanwhile', async () => {
    const page = await console.open('#/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('slow')
    let answer = () => {}
    const asked = new Promise<void>((resolve) => {
      void page.route('**/api/keys', async (route) => {
        if (route.request().method() !== 'POST') return route.continue()
        resolve()
        await new Promise<void>((go) => {
          answer = go
        })
        await route.continue()
      })
    })
    await page.getByRole('button', { name: 'Create key' }).click()
    await asked
    for (const name of ['Cancel', 'Close']) assert.ok(await page.getByRole('button', { name }).isDisabled(), name)
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
    answer()
    assert.match((await page.locator('.copy code').textContent()) ?? '', /^gzw_/)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.close()
  })

  it('say where the reply with a key was lost, and make no second one until that is known', async () => {
    const page = await console.open('#/keys')
    await loseReply(page, '/api/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('lost on its way')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByText('Gazeway does not answer').waitFor()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByText('Revoke it on its page').waitFor()
    const made = page.getByRole('row', { name: /lost on its way/ })
    await made.first().waitFor()
    assert.equal(await made.count(), 1)
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.locator('.copy code').waitFor()
    await page.keyboard.press('Escape')
    await page.close()
  })

  it('keep the focus in a dialog whose content is another, and by the keys where a button is gone', async () => {
    const page = await console.open('#/keys')
    const dialog = page.getByRole('dialog')
    const opener = page.getByRole('button', { name: 'New key' })
    await press(opener)
    await dialog.getByLabel('Name').fill('by keyboard')
    await press(dialog.getByRole('button', { name: 'Create key' }))
    await dialog.getByText('Copy the key now').waitFor()
    await hasFocus(dialog.getByRole('button', { name: 'Close' }))
    await press(dialog.getByRole('button', { name: 'Done' }))
    await dialog.waitFor({ state: 'detached' })
    await hasFocus(opener)
    await press(page.getByRole('link', { name: 'by keyboard' }))
    const revoke = page.getByRole('button', { name: 'Revoke' })
    await press(revoke)
    await press(dialog.getByRole('button', { name: 'Revoke and show what it did' }))
    await revoke.waitFor({ state: 'detached' })
    await hasFocus(page.getByRole('heading', { name: 'by keyboard', level: 1 }))
    await page.close()
  })

  it('can be read without an admin’s key, and not changed', async () => {
    const page = await console.open('#/settings/all', { key: console.platform.key })
    await page.getByText('Changing them needs an admin key').waitFor()
    assert.ok(await page.getByLabel('audit.retention_days').isDisabled(), 'the field is disabled')
    // Keys have a page of their own, where a key that is no admin's sees itself alone.
    await page.goto(`${console.platform.url}/#/keys/groups`)
    await page.getByRole('heading', { name: 'test', level: 1 }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Edit' }).count(), 0)
    await page.close()
  })

  it('break no policy and ask no other server', () => console.assertClean())
})
