import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { ask } from '../adapters/platform.ts'
import * as double from '../doubles/upstream.ts'
import { type ConsoleUnderTest, hasFocus, inspect, loseReply, press, startConsole, WITHOUT_BROWSER } from './browser.ts'
import { behind, money, number } from './rows.ts'

const CHAT = '/chat/completions'
const HOSTILE = '<img src=x onerror=alert(1)> "ada"'
/** Pause of a provider between the parts of an answer, in milliseconds. */
const PAUSE_MS = 50
/** Thinks, and answers in two pieces. */
const thinksFirst: double.Behaviour = async (reply) => {
  const [begun, ...said] = double.chunks(['Hel', 'lo.'])
  const thought = {
    ...begun,
    choices: [{ index: 0, delta: { reasoning_content: 'They greet.' }, finish_reason: null }],
  }
  reply.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of [begun, thought, ...said]) {
    reply.write(`data: ${JSON.stringify(event)}\n\n`)
    await pause(PAUSE_MS)
  }
  reply.end('data: [DONE]\n\n')
}
const REPOSITORY = 'github.com/ann/shop'

describe('pages that follow one key, one session, one call', { skip: WITHOUT_BROWSER }, () => {
  let one: double.UpstreamDouble
  let two: double.UpstreamDouble
  let under: ConsoleUnderTest
  let ada: { id: string; key: string }
  let bob: { id: string; key: string }
  let flood: { id: string; key: string }
  let group: string

  before(async () => {
    one = await double.startUpstream()
    two = await double.startUpstream()
    one.on(CHAT, double.json(503, { error: { message: 'overloaded' } }))
    two.on(CHAT, double.json(200, double.completion('Hello.')))
    const upstreams = { two: { provider: two.url, api_keys: ['key-of-two-number-1'] } }
    const routes = [{ model: 'smart', to: ['default', 'two/their-model'] }]
    const pricing = { models: { 'their-model': { input: 0.075, output: 0.3 } } }
    under = await startConsole(one.url, { document: { upstreams, routes, pricing, audit: { store_content: true } } })
    const { keys, groups } = under.platform.gateway
    group = (await groups.create({ name: 'staff', budgets: [{ usd: 50, per: 'week' }] })).id
    const budgets = [
      { usd: 4, per: 'day' as const },
      { usd: 1_000_000, per: 'total' as const },
    ]
    const limits = { credit_limit_usd: 5, budgets }
    const terms = { scopes: ['inference' as const], billing: 'cost' as const, models: ['smart'], limits, group }
    const make = async (name: string) => {
      const { key, record } = await keys.create({ name, ...terms })
      return { id: record.id, key }
    }
    ada = await make(HOSTILE)
    bob = await make('bob')
    flood = await make('flood')
    for (const words of ['Say hello.', 'Say goodbye.']) assert.equal(await chat(ada.key, 'smart', words), 200)
    assert.equal(await chat(bob.key, 'smart', 'Say hello.'), 200)
    assert.equal(await chat(ada.key, 'another', 'Say hello.'), 403)
    const facts = { repository: `https://${REPOSITORY}.git`, branch: 'fix/rounding' }
    const noted = await ask(under.platform, 'POST', '/api/coding-sessions/work/facts', { key: ada.key, body: facts })
    assert.equal(noted.status, 200)
    await under.platform.gateway.calls.flush()
  })
  after(async () => {
    under.assertClean()
    await under.close()
    await one.close()
    await two.close()
  })

  async function chat(key: string, model: string, words: string, session = 'work', stream = false): Promise<number> {
    const reply = await fetch(`${under.platform.gatewayUrl}/v1${CHAT}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-gazeway-session': session },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: words }], stream }),
    })
    await reply.text()
    return reply.status
  }
  const callsOf = async (id: string, filter: Partial<{ status: CallRecord['status']; address: string }> = {}) =>
    (await under.platform.gateway.calls.history({ limit: 100, caller_id: id, ...filter })).items
  /** Opens a link of a page, and counts the rows of the list of calls that it leads to. */
  async function rowsBehind(page: Page, link: ReturnType<Page['getByRole']>): Promise<number> {
    await link.click()
    const table = page.getByRole('table', { name: 'Calls', exact: true })
    await table.getByRole('row').nth(1).waitFor()
    const rows = (await table.getByRole('row').count()) - 1
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor()
    return rows
  }

  it('show a key with what it may, spent and did, and each figure leads to its rows', async () => {
    const page = await under.open('#/keys')
    await press(page.getByRole('row').filter({ hasText: HOSTILE }).getByRole('link'))
    await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor()
    await page.getByRole('meter', { name: 'Budget per day' }).waitFor()
    const all = await callsOf(ada.id)
    const refused = await callsOf(ada.id, { status: 'refused' })
    assert.equal(refused.length, 1)
    assert.equal(
      await rowsBehind(page, page.getByRole('link', { name: `${all.length} calls`, exact: true })),
      all.length,
    )
    const days = page.getByRole('list', { name: 'Spend by day' }).getByRole('link')
    await days.first().waitFor()
    assert.equal(await days.count(), 30)
    assert.equal(await rowsBehind(page, days.last()), all.length)
    assert.equal(
      await rowsBehind(page, page.getByRole('link', { name: `All ${refused.length}` }).last()),
      refused.length,
    )
    const [address] = all.flatMap(({ address: from }) => from ?? [])
    const from = page.getByRole('table', { name: 'Addresses' }).getByRole('link', { name: address ?? 'none' })
    assert.equal(await rowsBehind(page, from), (await callsOf(ada.id, { address: address ?? '' })).length)
    await page.getByRole('table', { name: 'Spend by model' }).getByRole('cell', { name: 'their-model' }).waitFor()
    await page.getByRole('link', { name: 'staff' }).waitFor()
    await inspect(page, 'key')
    await page.getByRole('link', { name: 'staff' }).click()
    await page.getByRole('meter', { name: 'Budget per week' }).waitFor()
    await page.getByRole('table', { name: 'Keys of the group' }).getByRole('link', { name: 'bob' }).waitFor()
    await inspect(page, 'group')
    await page.close()
  })

  it('lead from the figures of a session, a key and a group to rows that add up to them', async () => {
    const page = await under.open(`#/sessions/work?key=${ada.id}`, { width: 2560 })
    const figure = (label: string) =>
      page
        .locator('.stat')
        .filter({ has: page.getByText(label, { exact: true }) })
        .getByRole('link')
    for (const [label, sum] of [
      ['Cost', money('Cost')],
      ['Calls', number],
      ['Errors', number],
    ] as const) {
      const said = await figure(label).textContent()
      assert.equal(sum(await behind(page, figure(label))), said, `session: ${label}`)
    }
    const model = page.getByRole('link', { name: /^\$[\d.]+ in \d+ calls?$/ }).first()
    const ofModel = (await model.textContent()) ?? ''
    const rows = await behind(page, model)
    assert.equal(ofModel, `${money('Cost')(rows)} in ${rows.length} call${rows.length === 1 ? '' : 's'}`)

    for (const at of [`keys/${ada.id}`, `keys/${group}`]) {
      await page.goto(`${under.platform.url}/#/${at}`)
      const days = page.getByRole('list', { name: 'Spend by day' }).getByRole('link')
      const [, day = '', cost, calls, refused] =
        /^(.*): (\S+) in (\d+) calls, (\d+) refused$/.exec((await days.last().getAttribute('aria-label')) ?? '') ?? []
      const ofDay = await behind(page, days.last())
      assert.deepEqual([ofDay.length, money('Cost')(ofDay)], [Number(calls) + Number(refused), cost], `${at}: ${day}`)
      for (const [name, figures] of [
        ['Spend by model', { Calls: number, Cost: money('Cost') }],
        ['Addresses', { Calls: number, Cost: money('Cost') }],
      ] as const) {
        const row = page.getByRole('table', { name }).getByRole('row').nth(1)
        await row.waitFor()
        const labels = await page.getByRole('table', { name }).locator('thead th').allTextContents()
        const cells = await row.getByRole('cell').allTextContents()
        const listed = await behind(page, row.getByRole('link'))
        for (const [label, sum] of Object.entries(figures))
          assert.equal(sum(listed), cells[labels.indexOf(label)], `${at}: ${name}: ${label}`)
      }
    }
    await page.close()
  })

  it('lead from a month, a kind of calls and the errors of an upstream to their rows, with bars over them', async () => {
    const { calls } = under.platform.gateway
    const [call = assert.fail()] = await callsOf(ada.id, { status: 'ok' })
    for (const [at, kind] of ['compact', 'compact', 'subagent', null].entries())
      calls.record({ ...call, call_id: `call_kind_${at}`, session_id: 'kinds', kind })
    await calls.flush()
    const page = await under.open(`#/sessions/kinds?key=${ada.id}`, { width: 2560 })
    const kinds = page.getByRole('region', { name: 'By kind' }).getByRole('link')
    await kinds.first().waitFor()
    const said = await kinds.allTextContents()
    const names = await page.getByRole('region', { name: 'By kind' }).locator('dt').allTextContents()
    assert.deepEqual(names.toSorted(), ['compact', 'main', 'subagent'])
    for (const at of names.keys()) {
      const rows = await behind(page, kinds.nth(at))
      assert.equal(said[at], `${money('Cost')(rows)} in ${rows.length} call${rows.length === 1 ? '' : 's'}`)
    }
    await kinds.first().click()
    const bars = page.getByRole('list', { name: 'Calls by day' }).getByRole('link')
    await bars.first().waitFor()
    const labels = await bars.evaluateAll((all) => all.map((one) => Number(/: (\d+)/.exec(one.ariaLabel ?? '')?.[1])))
    const drawn = labels.reduce((sum, one) => sum + one, 0)
    const listed = page.getByRole('table', { name: 'Calls', exact: true }).getByRole('row')
    await listed.nth(1).waitFor()
    assert.equal(drawn, (await listed.count()) - 1)
    const kind = page.getByLabel('Kind', { exact: true })
    await kind.fill('')
    await listed.nth(4).waitFor()
    await hasFocus(kind)
    await kind.fill('sub')
    await page.getByText('Filters match whole names.').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await kind.waitFor({ state: 'detached' })

    await page.goto(`${under.platform.url}/#/upstreams`)
    const upstream = page.getByRole('table', { name: 'Upstreams' }).getByRole('row').filter({ hasText: /% of/ }).first()
    const [, rate, of] = /^([\d.]+)% of (\d+)$/.exec((await upstream.getByText(/% of/).textContent()) ?? '') ?? []
    const errors = upstream.getByRole('link', { name: /^errors of / })
    assert.equal((await behind(page, errors)).length, Math.round((Number(rate) * Number(of)) / 100))

    const month = page.locator('dt', { hasText: 'This month' }).locator('+ dd')
    await page.goto(`${under.platform.url}/#/keys/${ada.id}`)
    const ofKey = month.getByRole('link')
    const spent = await ofKey.textContent()
    assert.equal(money('Total')(await behind(page, ofKey)), spent)
    // The month of a group counts recorded keys and keys that have left it: its receipts do not add up to it.
    await page.goto(`${under.platform.url}/#/keys/${group}`)
    await page.getByRole('link', { name: 'all receipts' }).waitFor()
    assert.equal(await month.getByRole('link').count(), 0)
    await page.close()
  })

  it('count the calls of a key as their list does, although a flood of refused ones has no records', async () => {
    for (let i = 0; i < 70; i++) assert.equal(await chat(flood.key, 'another', 'Say hello.'), 403)
    await under.platform.gateway.calls.flush()
    const page = await under.open(`#/keys/${flood.id}`)
    await page.getByText('70 refused, recorded up to 60 a minute').waitFor()
    const link = page.getByRole('link', { name: /^\d+ calls$/ })
    const said = Number.parseInt((await link.textContent()) ?? '', 10)
    await link.click()
    await page.getByText(`1–25 of ${said}`).waitFor()
    await page.close()
  })

  it('have lists beside each other that the address of one does not move', async () => {
    const path = `/api/calls?caller_id=${ada.id}&limit=1`
    const { next_cursor: cursor } = (await (
      await ask(under.platform, 'GET', path, { key: under.platform.admin })
    ).json()) as { next_cursor: string }
    const page = await under.open(`#/keys/${ada.id}?after=${cursor}&first=2`)
    await page.getByRole('table', { name: 'Last sessions' }).waitFor()
    await page.getByRole('table', { name: 'Last refused calls' }).waitFor()
    assert.equal(await page.getByRole('alert').count(), 0)
    await page.close()
  })

  it('warn of a budget that is soon used up, and not of one that lasts for ages', async () => {
    const page = await under.open(`#/keys/${ada.id}`)
    const ages = page.locator('.budget-meter').filter({ has: page.getByRole('meter', { name: 'Budget in total' }) })
    await ages.getByText('never resets').waitFor()
    await page
      .getByText(/^forecast /)
      .first()
      .waitFor()
    assert.equal(await ages.getAttribute('class'), 'budget-meter')
    assert.equal(await page.getByText('This page failed').count(), 0)
    await page.close()
  })

  it('save the statement of a key', async () => {
    const page = await under.open(`#/keys/${ada.id}`)
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: /^Statement of / }).click()
    assert.match((await saved).suggestedFilename(), /^statement-\d{4}-\d\d\.csv$/)
    await page.close()
  })

  it('list sessions by repository and branch, and show one with its calls as a timeline', async () => {
    const page = await under.open(`#/sessions?repository=${REPOSITORY}`)
    const table = page.getByRole('table', { name: 'Sessions' })
    const row = table.getByRole('row').filter({ hasText: 'fix/rounding' })
    await row.getByRole('link', { name: HOSTILE }).waitFor()
    assert.equal(await table.getByRole('row').count(), 2)
    await inspect(page, 'sessions')
    await press(row.getByRole('link', { name: REPOSITORY }))
    await page.getByRole('heading', { level: 1, name: `${REPOSITORY} fix/rounding` }).waitFor()
    const calls = page.getByRole('table', { name: 'Calls of the session, newest first' })
    const all = (await callsOf(ada.id)).filter(({ session_id }) => session_id !== 'kinds')
    await calls.getByRole('row').nth(all.length).waitFor()
    assert.equal(await calls.getByRole('row').count(), all.length + 1)
    const costs = page.getByRole('list', { name: /^Cost by call/ }).getByRole('link')
    await costs.nth(all.length - 1).waitFor()
    assert.equal(await costs.count(), all.length)
    const words = page.getByRole('list', { name: 'Transcript, the oldest first' }).getByRole('listitem')
    await words.filter({ hasText: 'Say goodbye.' }).getByText('Hello.').first().waitFor()
    await inspect(page, 'session')
    await page.close()
  })

  it('name in the timeline of a session the tools that each answer called', async () => {
    const tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{}' } }]
    const asking = { role: 'assistant', content: null, tool_calls }
    const { choices, ...rest } = double.completion('') as { choices: object[] }
    two.on(
      CHAT,
      double.json(200, { ...rest, choices: [{ ...choices[0], message: asking, finish_reason: 'tool_calls' }] }),
    )
    assert.equal(await chat(flood.key, 'smart', 'Read it.', 'tools'), 200)
    two.on(CHAT, double.json(200, double.completion('Hello.')))
    await under.platform.gateway.calls.flush()
    const page = await under.open(`#/sessions/tools?key=${flood.id}`, { width: 2560 })
    const calls = page.getByRole('table', { name: 'Calls of the session, newest first' })
    await calls.getByRole('columnheader', { name: 'Tools' }).waitFor()
    await calls.getByRole('cell', { name: 'read_file' }).waitFor()
    await page.close()
  })

  it('list the dearest sessions first', async () => {
    const page = await under.open('#/sessions')
    const first = page.getByRole('table', { name: 'Sessions' }).getByRole('row').nth(1)
    await first.waitFor()
    assert.equal(await first.getByRole('link', { name: HOSTILE }).count(), 0, 'the latest session is of another key')
    await page.getByLabel('Order').selectOption('cost')
    await first.getByRole('link', { name: HOSTILE }).waitFor()
    const reply = await ask(under.platform, 'GET', '/api/coding-sessions', { key: under.platform.admin })
    const { items } = (await reply.json()) as { items: { key: string; cost_usd: number }[] }
    const dearest = items.toSorted((a, b) => b.cost_usd - a.cost_usd)
    assert.deepEqual([dearest[0]?.key, (dearest[0]?.cost_usd ?? 0) > (dearest[1]?.cost_usd ?? 0)], [ada.id, true])
    await page.close()
  })

  it('stop a session, raise its limit and let it go on', async () => {
    const page = await under.open(`#/sessions/work?key=${ada.id}`)
    await press(page.getByRole('button', { name: 'Stop' }))
    const dialog = page.getByRole('dialog')
    await hasFocus(dialog.getByRole('button', { name: 'Cancel' }))
    await press(dialog.getByRole('button', { name: 'Stop session' }))
    await page.getByRole('button', { name: 'Let it go on…' }).waitFor()
    assert.equal(await chat(ada.key, 'smart', 'Say hello.'), 402)
    assert.equal(await chat(bob.key, 'smart', 'Say hello.'), 200)
    await press(page.getByRole('button', { name: 'Let it go on…' }))
    await dialog.getByLabel('Add to its budget, in USD').fill('1.5')
    // Neither a page over plain HTTP, nor a reply that is lost and sent for again, raises it otherwise.
    await page.evaluate(() => Object.defineProperty(crypto, 'randomUUID', { value: undefined }))
    await loseReply(page, `/api/coding-sessions/work/resume?key=${ada.id}`)
    await page.keyboard.press('Enter')
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Add to its budget, in USD').press('Enter')
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    assert.equal(await chat(ada.key, 'smart', 'Say hello.'), 200)
    const { raised } = (await (
      await ask(under.platform, 'GET', `/api/coding-sessions/work?key=${ada.id}`, { key: under.platform.admin })
    ).json()) as { raised: { usd: number } }
    assert.equal(raised.usd, 1.5)
    await page.close()
  })

  it('explain a call: its key, route, candidates, time, price and ledger, and what mends a failure', async () => {
    const answered = (await callsOf(ada.id, { status: 'ok' }))[0] as CallRecord
    const page = await under.open(`#/calls/${answered.call_id}`)
    await page.getByText(/^Answered by .+ in /).waitFor()
    await page.getByText('attempt 2 of 2').waitFor()
    await page.getByRole('link', { name: HOSTILE }).waitFor()
    await page.getByText('a route matches it').waitFor()
    const usage = page.getByRole('table', { name: 'Usage by kind' })
    await usage
      .getByRole('cell', { name: String(answered.usage?.completion_tokens) })
      .first()
      .waitFor()
    await page.locator('section', { hasText: 'Receipt' }).first().waitFor()
    await usage.getByRole('cell', { name: '$0.075', exact: true }).waitFor()
    await inspect(page, 'call')
    await page.getByRole('button', { name: 'Compare with the call before' }).click()
    await page.getByText(/Against/).waitFor()
    await page.getByRole('link', { name: 'Move the route' }).first().waitFor()
    await page.locator('.candidates').getByRole('link', { name: /smart/ }).click()
    await page.getByText(/answered 503 for smart/).waitFor()
    await page.close()

    const [refused] = await callsOf(ada.id, { status: 'refused' })
    const other = await under.open(`#/calls/${refused?.call_id}`)
    await other.getByText('Refused before it was sent').waitFor()
    await inspect(other, 'call-refused')
    await other.close()
  })

  it('draw the steps of a streamed call that thinks first, to scale, and of the attempt before it', async () => {
    const { keys, calls } = under.platform.gateway
    const { key, record } = await keys.create({ name: 'thinker', scopes: ['inference'] })
    two.on(CHAT, thinksFirst)
    assert.equal(await chat(key, 'smart', 'Say hello.', 'thinking', true), 200)
    two.on(CHAT, double.json(200, double.completion('Hello.')))
    await calls.flush()
    const [{ call_id, latency_ms, timing } = assert.fail()] = await callsOf(record.id, { status: 'ok' })
    const { first_byte_ms, first_thought_ms, first_text_ms } = timing ?? assert.fail('no times')
    assert.ok(first_byte_ms !== null && first_thought_ms !== null && first_text_ms !== null, JSON.stringify(timing))
    const page = await under.open(`#/calls/${call_id}`)
    const steps = page.locator('.waterfall > li')
    await steps.first().waitFor()
    const names = await steps.locator('> :first-child').allTextContents()
    const [failed = '', ...rest] = names.filter((name) => name !== 'Queue' && name !== 'First token')
    assert.match(failed, /^127\.0\.0\.1/)
    assert.deepEqual(rest, ['First byte', 'Thoughts', 'Text', 'Total'])
    const widthOf = async (name: string) => {
      const bar = steps.filter({ has: page.getByText(name, { exact: true }) }).locator('.parts > i:last-child')
      return (await bar.evaluate((one) => one.getBoundingClientRect())).width
    }
    const [thoughts, text] = [await widthOf('Thoughts'), await widthOf('Text')]
    const perMs = thoughts / (first_text_ms - first_thought_ms)
    assert.ok(perMs > 0 && Math.abs(text - perMs * (latency_ms - first_text_ms)) < 2, `${thoughts} px, ${text} px`)
    await inspect(page, 'call-thinking')

    // The page of the attempt that failed tells which of both failed, too.
    const [first = assert.fail()] = await callsOf(record.id, { status: 'error' })
    await page.goto(`${under.platform.url}/#/calls/${first.call_id}`)
    await steps.filter({ hasText: 'two' }).waitFor()
    const bars = steps.locator('.parts > i:last-child')
    const classes = await bars.evaluateAll((all) => all.map((one) => one.className).filter((one) => one !== 'queue'))
    assert.ok(classes.length > 1, 'both attempts are drawn')
    assert.deepEqual([classes.at(-1), new Set(classes.slice(0, -1))], ['input', new Set(['failed'])])
    assert.equal((await steps.locator('> :first-child').allTextContents()).at(-2), 'two')
    await page.close()
  })

  it('lead from a refused call to the form of its key that mends it', async () => {
    const refused = (await callsOf(ada.id, { status: 'refused' })).at(-1)
    const page = await under.open(`#/calls/${refused?.call_id}`)
    await page.getByRole('link', { name: 'Change what it may use' }).first().click()
    const dialog = page.getByRole('dialog', { name: `Edit ${HOSTILE}` })
    await dialog.getByLabel('Models').fill('smart\nanother')
    await dialog.getByRole('button', { name: 'Save key' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('smart, another').waitFor()
    await page.close()
  })

  it('show a key of inference its own pages alone', async () => {
    const [theirs] = await callsOf(bob.id)
    const page = await under.open('', { key: ada.key })
    await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor()
    const links = page.getByRole('navigation', { name: 'Pages' }).first().getByRole('link')
    assert.deepEqual(await links.allTextContents(), ['Sessions', 'Calls', 'Usage', 'Keys'])
    assert.equal(await page.getByRole('button', { name: 'Revoke' }).count(), 0)
    await inspect(page, 'own-key')
    await page.goto(`${under.platform.url}/#/calls`)
    const table = page.getByRole('table', { name: 'Calls', exact: true })
    await table.waitFor()
    assert.equal((await table.getByRole('row').count()) - 1, Math.min(25, (await callsOf(ada.id)).length))
    for (const at of [`calls/${theirs?.call_id}`, `keys/${bob.id}`]) {
      await page.goto(`${under.platform.url}/#/${at}`)
      await page
        .getByText(/does not exist, (or )?is not yours/)
        .first()
        .waitFor()
    }
    for (const at of ['settings', 'settings/prices', 'wallet/ledger', 'tasks?status=open']) {
      await page.goto(`${under.platform.url}/#/calls`)
      await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor()
      await page.goto(`${under.platform.url}/#/${at}`)
      await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor()
    }
    assert.equal(await page.getByRole('link', { name: 'all transfers' }).count(), 0)
    await page.keyboard.press('Control+k')
    await page.getByRole('option').first().waitFor()
    assert.deepEqual(await page.getByRole('option').locator('.palette-label').allTextContents(), [
      ...['Sessions', 'Calls', 'Usage', 'Keys'],
    ])
    await page.close()
  })

  it('revoke a key, and show what it did', async () => {
    const page = await under.open(`#/keys/${bob.id}`)
    await press(page.getByRole('button', { name: 'Revoke' }))
    await press(page.getByRole('dialog').getByRole('button', { name: 'Revoke and show what it did' }))
    await page.getByText('revoked', { exact: true }).waitFor()
    assert.equal(await chat(bob.key, 'smart', 'Say hello.'), 401)
    await page.getByRole('table', { name: 'Addresses' }).waitFor()
    await page.getByRole('table', { name: 'Last sessions' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Revoke' }).count(), 0)
    await page.close()
  })
})
