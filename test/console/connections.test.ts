import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import WebSocket from 'ws'
import { newId } from '../../src/text/ids.ts'
import { ask, errorOf } from '../adapters/platform.ts'
import { axeFaults, type ConsoleUnderTest, inspect, startConsole, WITHOUT_BROWSER } from './browser.ts'

const DAY_MS = 86_400_000
/** Effect of a cache that had all that it was known to have. */
const NOTHING_MISSED = { missed_tokens: 0, missed_usd: 0, changed: null }

describe('the pages Connections, Calls and Skills', { skip: WITHOUT_BROWSER }, () => {
  let gazeway: ConsoleUnderTest

  before(async () => {
    gazeway = await startConsole()
  })
  after(() => gazeway.close())

  it('shows a ticket once, and lists and ends the connection that it opens', async () => {
    const page = await gazeway.open('#/connections')
    await page.getByText('No connections').waitFor()
    await page.getByRole('button', { name: 'New connection' }).click()
    await page.getByLabel('User').fill('ada')
    assert.deepEqual(await axeFaults(page), [])
    await page.getByRole('button', { name: 'Create' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Connect within').waitFor()
    const [url = '', ticket = ''] = await dialog.locator('.copy code').allTextContents()
    assert.match(ticket, /^gzt_/)
    await dialog.getByRole('button', { name: 'Done' }).click()

    const socket = new WebSocket(url, ['gazeway.v1', `ticket.${ticket}`])
    const closed = new Promise<number>((resolve) => socket.once('close', (code) => resolve(code)))
    const row = page.getByRole('row', { name: /ada/ })
    await row.waitFor()
    await inspect(page, 'connections')
    await page.getByRole('button', { name: 'Disconnect ada' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
    assert.equal(await closed, 4000)
    await row.waitFor({ state: 'detached' })
    assert.doesNotMatch(await page.content(), /gzt_/)
  })

  it('chats over the real socket, and asks for the operator’s figures', async () => {
    const page = await gazeway.open('#/connections')
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByText('connected as admin').waitFor()
    const message = page.getByLabel('Message')
    await message.fill('What is a ledger?')
    await message.press('Enter')
    const conversation = page.getByRole('list', { name: 'Conversation' })
    await conversation.getByText('poa_score').waitFor()
    const said = String(await conversation.textContent())
    assert.match(said, /What is a ledger\?/)
    assert.match(said, /sandbox/)
    assert.match(said, /tensor COG:\d\.\d\d\/EMO:\d\.\d\d\/ENV:\d\.\d\d/)
    await inspect(page, 'chat')
    for (const [name, field] of [
      ['Wallet status', 'settlement'],
      ['Agent registration', 'registration'],
      ['Payment policy', 'max_amount_usd'],
      ['Chains and vault', 'ledger_head'],
    ] as const) {
      await page.getByRole('button', { name }).click()
      await conversation.getByText(`"${field}"`).first().waitFor()
    }
    await page.getByRole('table', { name: 'Live connections' }).getByText('operator').waitFor()
    assert.deepEqual(await axeFaults(page), [])
    await page.getByRole('button', { name: 'Disconnect', exact: true }).click()
    await page.getByText('The connection was closed.').waitFor()
    await page.getByText('No connections').waitFor()

    const { admin } = gazeway.platform
    const reply = await ask(gazeway.platform, 'GET', '/api/coding-sessions', { key: admin })
    const { items } = (await reply.json()) as { items: { id: string; key: string }[] }
    await page.setViewportSize({ width: 2560, height: 900 })
    await page.goto(`${gazeway.platform.url}/#/sessions/${items[0]?.id}?key=${items[0]?.key}`)
    const calls = page.getByRole('table', { name: 'Calls of the session, newest first' })
    for (const name of ['Tensor', 'Score']) await calls.getByRole('columnheader', { name }).waitFor()
    await calls.getByText(/^COG:/).first().waitFor()
    const transcript = page.getByRole('list', { name: 'Transcript, the oldest first' })
    await transcript.getByText('What is a ledger?', { exact: true }).waitFor()
    assert.deepEqual(await axeFaults(page), [])
  })

  it('opens no socket behind a page that is left before its ticket comes', async () => {
    const page = await gazeway.open('#/connections')
    const opened: string[] = []
    page.on('websocket', (socket) => opened.push(socket.url()))
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/api/connections', async (route) => {
      if (route.request().method() === 'POST') await held
      await route.continue()
    })
    const asking = page.waitForRequest((request) => request.method() === 'POST')
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await asking
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    const answered = page.waitForResponse((response) => response.request().method() === 'POST')
    answer()
    await (await answered).finished()
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(drawn)))
    assert.deepEqual(opened, [])
    await page.close()
  })

  it('goes on with a conversation whose connection was lost', async () => {
    const { platform } = gazeway
    const page = await gazeway.open('#/connections')
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByLabel('Message').fill('Remember the tea.')
    await page.getByLabel('Message').press('Enter')
    const conversation = page.getByRole('list', { name: 'Conversation' })
    await conversation.getByText('poa_score').waitFor()
    const { items } = (await (await ask(platform, 'GET', '/api/connections', { key: platform.admin })).json()) as {
      items: { id: string; session_id: string }[]
    }
    const [lost] = items
    await ask(platform, 'DELETE', `/api/connections/${lost?.id}`, { key: platform.admin })
    await page.getByText('Someone closed this connection.').waitFor()
    assert.equal(await page.getByLabel('Session').inputValue(), lost?.session_id)

    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page
      .getByTitle(lost?.session_id ?? 'none')
      .first()
      .waitFor()
    await page.getByText('connected as admin').waitFor()
    assert.match(String(await conversation.textContent()), /Remember the tea\./)

    await page.getByRole('button', { name: 'Disconnect', exact: true }).click()
    await page.getByLabel('Session').fill('')
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByText('No messages yet.').waitFor()
    await page.getByRole('button', { name: 'Disconnect', exact: true }).click()
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByText('connected as admin').waitFor()
    await page.getByLabel('Message').fill('Hello.')
    await page.getByLabel('Message').press('Enter')
    await conversation.getByText('poa_score').waitFor()
    await page.getByRole('button', { name: 'Disconnect', exact: true }).click()
    await page.getByText('No connections').waitFor()
  })

  it('lets a key without the scope admin chat as a user, and only that', async () => {
    const page = await gazeway.open('#/connections', { key: gazeway.platform.key })
    const roles = page.getByLabel('As', { exact: true })
    await roles.waitFor()
    assert.deepEqual(await roles.locator('option').allTextContents(), ['user'])
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByText('connected as user').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Wallet status' }).count(), 0)
  })

  it('shows the trail of calls, filters it, and opens one call', async () => {
    const { platform } = gazeway
    const body = { goal: 'Write a small plan', dry_run: true }
    await ask(platform, 'POST', '/api/tasks/swarm', { body })
    const { items } = (await (await ask(platform, 'GET', '/api/calls', { key: platform.admin })).json()) as {
      items: { call_id: string; model: string; latency_ms: number }[]
    }
    const page = await gazeway.open('#/calls')
    const table = page.getByRole('table', { name: 'Calls' })
    await table.waitFor()
    assert.equal(await table.getByRole('row').count(), items.length + 1)
    await inspect(page, 'calls')
    await page.getByLabel('Status').selectOption('error')
    await page.getByText('No call matches').waitFor()
    assert.match(page.url(), /status=error/)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await table.getByRole('row').nth(1).getByRole('link').first().click()
    await page.getByText('Source').waitFor()
    const [newest] = items
    // The id is short, and whole as its title and on copy.
    await page.getByRole('main').locator(`code[title="${newest?.call_id}"]`).first().waitFor()
    assert.deepEqual(await axeFaults(page), [])

    const missing = await ask(platform, 'GET', '/api/calls/call_none')
    await page.goto(`${platform.url}/#/calls/call_none`)
    await page.getByText((await errorOf(missing)).message).waitFor()
  })

  it('brushes its bars to a time, by dragging and by the keyboard, and back', async () => {
    const { calls } = gazeway.platform.gateway
    const [last] = (await calls.history({ limit: 1 })).items
    assert.ok(last, 'there are calls')
    const noon = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2
    for (const [daysAgo, number] of [
      [5, 1],
      [2, 2],
      [4, 4],
    ] as const)
      for (let i = 0; i < number; i++)
        calls.record({
          ...last,
          ...{ call_id: newId('call'), at: new Date(noon - daysAgo * DAY_MS).toISOString(), model: 'brushed' },
        })
    await calls.flush()
    const page = await gazeway.open('#/calls?model=brushed')
    const rows = page.getByRole('table', { name: 'Calls' }).getByRole('row')
    const days = page.getByRole('list', { name: 'Calls by day' }).getByRole('listitem')
    await days.nth(29).waitFor()
    assert.equal(await days.count(), 30)
    await rows.nth(7).waitFor()
    assert.deepEqual(await axeFaults(page), [])

    // From the sixth day before today to the fifth, then to the fourth.
    await days.nth(23).hover()
    await page.mouse.down()
    await days.nth(24).hover()
    await days.nth(25).hover()
    await page
      .getByRole('status')
      .getByText(/^From .*: 0 to .*: 4$/)
      .waitFor()
    await page.mouse.up()
    await rows.nth(6).waitFor({ state: 'detached' })
    assert.equal(await rows.count(), 1 + 1 + 4)
    assert.match(page.url(), /from=.*&to=/)
    await page.getByRole('list', { name: 'Calls by hour' }).waitFor()
    await page.goBack()
    await rows.nth(7).waitFor()

    await days.last().getByRole('link').focus()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    for (let i = 0; i < 2; i++) await page.keyboard.press('Shift+ArrowLeft')
    await page
      .getByRole('status')
      .getByText(/^From .*: 4 to .*: 2$/)
      .waitFor()
    await page.keyboard.press('Enter')
    await rows.nth(7).waitFor({ state: 'detached' })
    assert.equal(await rows.count(), 1 + 2 + 4)
    await page.reload()
    await rows.nth(6).waitFor()
    assert.equal(await rows.count(), 1 + 2 + 4)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.goto(`${gazeway.platform.url}/#/calls?model=brushed&session=${last.session_id ?? 'none'}`)
    await page.getByText('No call matches').waitFor()
    assert.equal(await page.getByRole('list', { name: /^Calls by/ }).count(), 0, 'statistics have no sessions')
    await page.close()
  })

  it('shows calls as they are recorded, counts them while it is paused, and polls without a stream', async () => {
    const { calls } = gazeway.platform.gateway
    const [last] = (await calls.history({ limit: 1 })).items
    assert.ok(last, 'there are calls')
    const record = (model: string) =>
      calls.record({ ...last, call_id: newId('call'), at: new Date().toISOString(), model, session_id: 'live' })
    const page = await gazeway.open('#/calls?session=live')
    const table = page.getByRole('table', { name: 'Calls' })
    await page.getByText('live', { exact: true }).waitFor()
    record('first')
    await table.getByText('first').waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    record('second')
    record('third')
    await page.getByText('paused, 2 new').waitFor()
    assert.equal(await table.getByRole('row').count(), 2)
    await page.getByRole('button', { name: 'Resume' }).click()
    await table.getByText('third').waitFor()
    assert.equal(await table.getByRole('row').count(), 4)

    const error = { code: 'too_many_requests', message: 'Too many streams.', type: 'rate_limit_error', param: null }
    await page.route('**/api/calls/live*', (route) => route.fulfill({ status: 429, json: { error } }))
    await page.reload()
    await page.getByText('every 3 s', { exact: true }).waitFor()
    record('fourth')
    await table.getByText('fourth').waitFor()
    await page.close()
  })

  it('names a client that breaks its cache, beside what its session saved and missed', async () => {
    const { calls } = gazeway.platform.gateway
    const [last] = (await calls.history({ limit: 1 })).items
    assert.ok(last, 'there are calls')
    const usage = { prompt_tokens: 8000, completion_tokens: 1, total_tokens: 8001 }
    const hit = { usage: { ...usage, cached_tokens: 6000 }, cache: { saved_usd: 0.02, ...NOTHING_MISSED } }
    const missed = { usage, cache: { saved_usd: 0, missed_tokens: 6000, missed_usd: 0.01, changed: 'tools' as const } }
    for (const [index, effect] of [hit, missed, missed].entries())
      calls.record({ ...last, call_id: `call_${String(index).repeat(32)}`, session_id: 'night', ...effect })
    const page = await gazeway.open(`#/calls/call_${'1'.repeat(32)}`)
    await page.getByText('6,000 missed for $0.01, the client changed its tools').waitFor()
    await page.getByRole('link', { name: 'night' }).click()
    await page.getByText('Your client breaks its cache: 2 of 3 calls changed the tools or their order').waitFor()
    await page.getByText('of input; $0.02 saved, $0.02 missed').waitFor()
    await page.getByRole('cell', { name: '75%' }).waitFor()
    assert.deepEqual(await axeFaults(page), [])
    await page.close()
  })

  it('shows the skills that are installed, and one with its instructions', async () => {
    const folder = join(gazeway.platform.gateway.loaded.dataDir, 'skills', 'writing', 'plain-words')
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      join(folder, 'SKILL.md'),
      '---\nname: plain-words\ndescription: Write so that everybody understands it.\n---\n\n# Plain words\n\nShort sentences.',
    )
    const page = await gazeway.open('#/skills')
    await page.getByLabel('Search').fill('no such words anywhere')
    await page.getByText('No skill matches').waitFor()
    await page.getByLabel('Search').fill('plain-words')
    await page.getByRole('link', { name: 'plain-words' }).waitFor()
    await inspect(page, 'skills')
    await page.getByRole('link', { name: 'plain-words' }).press('Enter')
    await page.getByText('Short sentences.').waitFor()
    assert.deepEqual(await axeFaults(page), [])
    await page.goBack()
    await page.getByRole('link', { name: 'plain-words' }).waitFor()
    assert.equal(await page.getByLabel('Search').inputValue(), 'plain-words', 'the filter is in the address')
  })

  it('makes no request to another host, and violates no content security policy', () => gazeway.assertClean())
})
