import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { NewTask } from '../../src/tasks/tasks.ts'
import { newId } from '../../src/text/ids.ts'
import { ask } from '../adapters/platform.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { axeFaults, type ConsoleUnderTest, inspect, loseReply, startConsole, WITHOUT_BROWSER } from './browser.ts'

interface Reply {
  id: string
  status: string
  escrow_id: string
  claim_token: string
  depends_on: string[]
  items: Reply[]
}

const GOAL = `Publish the release notes:
1. Collect the merged changes since the last release
- Write the notes for people who run it
- Measure the start again
- Check the links
3. Translate the notes into German
4. Publish them`

describe('tasks, swarms and escrow in the console', { skip: WITHOUT_BROWSER }, () => {
  let under: ConsoleUnderTest
  let worker: { key: string; id: string }

  before(async () => {
    under = await startConsole()
    const { key, record } = await under.platform.gateway.keys.create({ name: 'worker', scopes: ['platform'] })
    worker = { key, id: record.id }
  })
  after(async () => {
    under.assertClean()
    await under.close()
  })

  async function call(method: string, path: string, body?: unknown, key = under.platform.key): Promise<Reply> {
    const reply = await ask(under.platform, method, path, { key, body })
    const json = (await reply.json()) as Reply
    assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${JSON.stringify(json)}`)
    return json
  }
  const calls = async () =>
    (await call('GET', '/api/calls?limit=1', undefined, under.platform.admin)) as unknown as { total: number }
  const post = (path: string, body: unknown, key?: string) => call('POST', path, body, key)

  async function done(task: Pick<Reply, 'id'>, agent = 'ada'): Promise<void> {
    const { claim_token } = await post(`/api/tasks/${task.id}/claim`, { agent }, worker.key)
    await post(`/api/tasks/${task.id}/complete`, { agent, claim_token, result: 'Done.' }, worker.key)
  }

  async function attest(taskId: string): Promise<string> {
    const records = humanStream(7, { start: new Date().toISOString() })
    const { attestation } = await under.platform.gateway.gaze.store({ task_id: taskId, records }, under.platform.keyId)
    assert.equal(attestation.status, 'passed')
    return attestation.id
  }

  /** Titles of the boxes that say a status, once there are so many. */
  const boxes = (page: Page, status: string, many: number) =>
    page.waitForFunction(
      ([wanted, number]) => document.querySelectorAll(`.box[data-status="${wanted}"]`).length === Number(number),
      [status, String(many)],
    )

  it('divides a goal, and draws how its tasks are claimed, completed and opened', async () => {
    const page = await under.open('#/swarm')
    await page.getByText('No swarms yet').waitFor()
    await page.getByRole('button', { name: 'New swarm…' }).click()
    await page.getByLabel('Goal').fill(GOAL)
    await page.getByLabel('Reward in USD').fill('5')
    await page.getByRole('button', { name: 'Create swarm' }).click()
    await page.waitForURL(/#\/swarm\/swarm_/)
    const swarm = decodeURIComponent(page.url().split('/').at(-1) ?? '')
    // The swarm is the admin's: another key sees none of its tasks but those that are open.
    const list = () => call('GET', `/api/tasks?swarm_id=${swarm}`, undefined, under.platform.admin)
    const { items } = await list()
    const blocked = items.filter(({ status }) => status === 'blocked').length
    await boxes(page, 'open', items.length - blocked)
    assert.ok(blocked > 0)
    await boxes(page, 'blocked', blocked)
    assert.equal(await page.locator('.edge').count(), items.flatMap(({ depends_on }) => depends_on).length)

    const first = items.find(({ status }) => status === 'open') ?? assert.fail('No task is open.')
    const { claim_token } = await post(`/api/tasks/${first.id}/claim`, { agent: 'ada' }, worker.key)
    await boxes(page, 'claimed', 1)
    await post(`/api/tasks/${first.id}/complete`, { agent: 'ada', claim_token, result: 'It.' }, worker.key)
    await boxes(page, 'completed', 1)
    const after = (await list()).items
    await boxes(page, 'open', after.filter(({ status }) => status === 'open').length)
    const second = after.find(({ status }) => status === 'open') ?? assert.fail('Nothing was opened.')
    await post(`/api/tasks/${second.id}/claim`, { agent: 'grace' }, worker.key)
    await boxes(page, 'claimed', 1)
    await inspect(page, 'swarm')

    const box = page.locator('.box[data-status="completed"]')
    assert.match((await box.getAttribute('aria-label')) ?? '', / completed · ada/)
    await box.focus()
    await page.keyboard.press('Enter')
    await page.getByText('Completed by ada').waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'All swarms' }).click()
    await page.getByRole('table', { name: 'Swarms, newest first' }).waitFor()
    assert.deepEqual(await axeFaults(page), [])
    await page.close()
  })

  it('makes a task whose reward takes a review of the result', async () => {
    const page = await under.open('#/tasks', { key: under.platform.key })
    await page.getByRole('button', { name: 'New task…' }).click()
    await page.getByLabel('Title').fill('Round once')
    await page.getByLabel('The reward takes').selectOption('a review of the result, seen')
    const coverage = page.getByLabel('Lines to be read in percent')
    for (const wrong of ['120', 'most']) {
      await coverage.fill(wrong)
      await page.getByRole('button', { name: 'Create task' }).click()
      await coverage.and(page.locator('[aria-invalid]')).waitFor()
    }
    await coverage.fill('80')
    assert.deepEqual(await axeFaults(page), [])
    await page.getByRole('button', { name: 'Create task' }).click()
    await page.getByRole('heading', { name: 'Round once' }).waitFor()
    await page.getByText('80% of the result’s lines read, at the level “seen”').waitFor()
    const id = page.url().split('/').at(-1) ?? ''
    const { review } = await under.platform.gateway.tasks.get(id, null)
    assert.deepEqual(review, { coverage: 0.8, level: 'seen' })
    await page.close()
  })

  it('makes a task, shows it where filters let it, and tells its story to the end', async () => {
    const page = await under.open('#/tasks', { key: under.platform.key })
    await page.getByRole('button', { name: 'New task…' }).click()
    await page.getByLabel('Title').fill('Summarise the week')
    await page.getByLabel('Reward in USD').fill('0.1234567')
    await page.getByRole('button', { name: 'Create task' }).click()
    await page.getByText(/at most 6 decimals/).waitFor()
    await page.getByLabel('Reward in USD').fill('1.5')
    await page.getByLabel('Required capabilities').fill('prose, python')
    await page.getByLabel('Level of attestations').selectOption('seen')
    assert.deepEqual(await axeFaults(page), [])
    await page.getByRole('button', { name: 'Create task' }).click()
    await page.getByRole('heading', { name: 'Summarise the week' }).waitFor()
    const story = page.getByRole('list', { name: 'Timeline' })
    await story.getByText('$1.50 locked').waitFor()
    await story.getByText('Waiting for an agent to claim it').waitFor()
    await page.getByText('Level of attentionseen').waitFor()
    const id = page.url().split('/').at(-1) ?? ''

    await page.goto(`${under.platform.url}/#/tasks?capability=python&status=open`)
    await page.getByRole('link', { name: 'Summarise the week' }).waitFor()
    await page.getByLabel('Status').selectOption('completed')
    await page.getByText('No task matches').waitFor()
    await done({ id })
    await page.getByRole('link', { name: 'Summarise the week' }).click()
    await story.getByText('Completed by ada').waitFor()
    await story.getByText('Waiting for the release of the reward').waitFor()
    await page.goto(`${under.platform.url}/#/tasks`)
    await page.getByRole('link', { name: 'Summarise the week' }).waitFor()
    await inspect(page, 'tasks')
    await page.close()
  })

  it('says where a graph cannot be drawn, in place of its being loaded for ever', async () => {
    const { swarm_id } = (await post('/api/tasks/swarm', { goal: GOAL })) as unknown as { swarm_id: string }
    const page = await under.open()
    await page.route(/graph-layout.*\.js/, (route) => route.abort('connectionreset'))
    await page.goto(`${under.platform.url}/#/swarm/${swarm_id}`)
    await page.getByText('The graph could not be loaded').waitFor()
    await page.close()
  })

  it('drops a value of an address that its filter does not have, as in other lists', async () => {
    const page = await under.open()
    for (const [at, label] of [
      ['escrow?status', 'Status'],
      ['tasks?status', 'Status'],
      ['calls?status', 'Status'],
      ['sessions?sort', 'Order'],
    ] as const) {
      await page.goto(`${under.platform.url}/#/${at}=none-such`)
      const select = page.locator('main').getByLabel(label, { exact: true })
      await select.waitFor()
      await page.waitForFunction(() => document.querySelector('main .loading') === null)
      assert.equal(await select.inputValue(), '', at)
      assert.equal(await page.getByRole('alert').count(), 0, at)
    }
    await page.close()
  })

  it('cuts a title where it is full, and no character in two', async () => {
    const titles = ['🧑‍🚀'.repeat(60), '進捗'.repeat(60), 'W'.repeat(120), 'il'.repeat(18)]
    const { gateway, keyId } = under.platform
    const swarm_id = newId('swarm')
    for (const title of titles) {
      const { id } = await gateway.tasks.create(NewTask.parse({ title }), keyId)
      await gateway.store.db.updateTable('tasks').set({ swarm_id }).where('id', '=', id).execute()
    }
    const page = await under.open(`#/swarm/${swarm_id}`)
    await page
      .locator('.box')
      .nth(titles.length - 1)
      .waitFor()
    const shown = await page.locator('.box .title').evaluateAll((boxes) =>
      boxes.map((box) => {
        const right = box.parentElement?.querySelector('rect')?.getBoundingClientRect().right ?? 0
        return { text: box.textContent?.trim() ?? '', over: box.getBoundingClientRect().right - right }
      }),
    )
    for (const { text, over } of shown) assert.ok(over <= 0, `${text} is ${over} px too wide`)
    assert.ok(
      shown.some(({ text }) => /^(🧑‍🚀)+…$/u.test(text)),
      'whole emoji',
    )
    assert.ok(
      shown.some(({ text }) => text === titles[3]),
      'narrow letters, all of them',
    )
    await page.close()
  })

  it('makes what it is asked for once, also where the reply is lost and it is asked again', async () => {
    const page = await under.open('#/tasks')
    await loseReply(page, '/api/tasks')
    await page.getByRole('button', { name: 'New task…' }).click()
    await page.getByLabel('Title').fill('Made once')
    await page.getByLabel('Reward in USD').fill('2')
    await page.getByRole('button', { name: 'Create task' }).click()
    await page.getByRole('dialog').getByText('Gazeway does not answer').waitFor()
    await page.getByRole('button', { name: 'Create task' }).click()
    await page.getByRole('heading', { name: 'Made once' }).waitFor()
    const { items } = await call('GET', '/api/tasks?limit=1000', undefined, under.platform.admin)
    const made = items.filter((task) => (task as unknown as { title: string }).title === 'Made once')
    assert.equal(made.length, 1)

    await page.goto(`${under.platform.url}/#/swarm`)
    await loseReply(page, '/api/tasks/swarm')
    await page.getByRole('button', { name: 'New swarm…' }).click()
    await page.getByLabel('Goal').fill('Read the report once')
    await page.getByRole('button', { name: 'Create swarm' }).click()
    await page.getByRole('dialog').getByText('Gazeway does not answer').waitFor()
    const { total } = await calls()
    await page.getByRole('button', { name: 'Create swarm' }).click()
    await page.waitForURL(/#\/swarm\/swarm_/)
    assert.equal((await calls()).total, total)
    await page.close()
  })

  it('keeps every letter of a filter, whatever is drawn while one types', async () => {
    const page = await under.open('#/tasks')
    const shown = await page.getByLabel('Agent').evaluate(async (input: HTMLInputElement) => {
      input.focus()
      document.execCommand('insertText', false, 'a')
      // Draws the page again before the browser says that its address is another one: a dialog comes and goes.
      for (const name of ['New task…', 'Cancel']) {
        for (const button of document.querySelectorAll('button')) if (button.textContent === name) button.click()
        // What is to be drawn is drawn in microtasks; the browser's event is a task.
        for (let i = 0; i < 20; i++) await null
      }
      // A person whose focus was in the dialog puts the caret back.
      input.setSelectionRange(input.value.length, input.value.length)
      document.execCommand('insertText', false, 'da')
      return input.value
    })
    assert.equal(shown, 'ada')
    await page.close()
  })

  it('writes a title from right to left where its words are', async () => {
    await post('/api/tasks', { title: 'مرحبا بالعالم.' })
    const page = await under.open('#/tasks')
    const title = page.getByRole('link', { name: 'مرحبا بالعالم' })
    const [first, last] = await title.evaluate((button) => {
      const text = document.createTreeWalker(button, NodeFilter.SHOW_TEXT).nextNode() as Text
      return [0, text.length - 1].map((at) => {
        const range = document.createRange()
        range.setStart(text, at)
        range.setEnd(text, at + 1)
        return range.getBoundingClientRect().left
      })
    })
    assert.ok(Number(last) < Number(first), `the full stop is at ${last}, the first letter at ${first}`)
    await page.close()
  })

  it('cancels a task once it has said what moves back', async () => {
    const task = await post('/api/tasks', { title: 'Not needed', reward_usd: 0.75 })
    const page = await under.open(`#/tasks/${task.id}`)
    await page.getByRole('button', { name: 'Cancel the task…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel this task?' })
    assert.match((await dialog.textContent()) ?? '', /\$0\.75 moves from its escrow back to test/)
    await dialog.getByRole('button', { name: 'Cancel the task' }).click()
    await page.getByText('$0.75 back to test').waitFor()
    assert.equal((await call('GET', `/api/tasks/${task.id}`)).status, 'cancelled')
    await page.close()
  })

  it('shows who received the refund of a cancelled task', async () => {
    const task = await post('/api/tasks', { title: 'Paid by another' }, worker.key)
    const page = await under.open(`#/tasks/${task.id}`)
    const cancel = page.getByRole('button', { name: 'Cancel the task…' })
    const dialog = page.getByRole('dialog', { name: 'Cancel this task?' })
    await cancel.click()
    await dialog.getByText('No money moves').waitFor()
    await page.keyboard.press('Escape')
    await post('/api/wallet/escrow', { task_id: task.id, amount_usd: 3 }, under.platform.admin)
    await page.getByText('$3.00 locked').waitFor()
    await cancel.click()
    await dialog.getByText('$3.00 moves from its escrow back to You.').waitFor()
    await page.close()
  })

  it('keeps a question about an escrow, and what was typed, as its row moves to the next page', async () => {
    const { gateway } = under.platform
    const task = await post('/api/tasks', { title: 'Soon on the next page', reward_usd: 0.01 })
    await done(task)
    const page = await under.open('#/escrow')
    const row = page.getByRole('row').filter({ hasText: 'Soon on the next page' })
    await row.getByRole('button', { name: 'Release…' }).click()
    await page.getByLabel('Attestation').fill('att_typed')
    for (let i = 0; i < 25; i++) {
      await gateway.tasks.create(NewTask.parse({ title: `Newer ${i}`, reward_usd: 0.01 }), under.platform.keyId)
    }
    await row.waitFor({ state: 'detached' })
    assert.equal(await page.getByLabel('Attestation').inputValue(), 'att_typed')
    await page.close()
  })

  it('releases an escrow after saying what moves from whom to whom, and says why it would not', async () => {
    const task = await post('/api/tasks', { title: 'Draw the map', reward_usd: 2.5 })
    await done(task, 'mercator')
    const page = await under.open('#/escrow')
    const row = page.getByRole('row').filter({ hasText: 'Draw the map' })
    await row.getByText(/\d+ h|\d+:\d\d/).waitFor()
    await row.getByRole('button', { name: 'Release…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Release $2.50?' })
    await dialog.getByText('No gaze session is bound to this task yet').waitFor()
    const told = (await dialog.textContent()) ?? ''
    assert.match(told, /What moves\$2\.50 in pathUSD/)
    assert.match(told, /where test locked it/)
    assert.match(told, /Toworker, which completed the task as mercator/)
    await dialog.getByLabel('Attestation').fill('att_unknown')
    await dialog.getByRole('button', { name: 'Release $2.50' }).click()
    await dialog.getByText(/There is no such attestation/).waitFor()
    assert.equal((await call('GET', `/api/wallet/escrow/${task.escrow_id}`)).status, 'locked')

    await dialog.getByLabel('Attestation').fill('')
    const attestation = await attest(task.id)
    await page.keyboard.press('Escape')
    await row.getByRole('button', { name: 'Release…' }).click()
    await page.waitForFunction(
      (id) => document.querySelector<HTMLInputElement>('dialog input')?.value === id,
      attestation,
    )
    await inspect(page, 'escrow-release')
    await dialog.getByRole('button', { name: 'Release $2.50' }).click()
    await page.getByText('$2.50 moved to worker.').waitFor()
    await row.getByText('released').waitFor()
    const escrow = (await call('GET', `/api/wallet/escrow/${task.escrow_id}`)) as unknown as Record<string, unknown>
    assert.deepEqual([escrow.status, escrow.recipient], ['released', worker.id])
    await inspect(page, 'escrow')
    await row.getByRole('link', { name: 'Draw the map' }).click()
    await page.getByText('$2.50 released to worker').waitFor()
    await inspect(page, 'task-story')
    await page.close()
  })

  it('refunds an escrow whose time is over, for its payer', async () => {
    const task = await post('/api/tasks', { title: 'Count the stars', reward_usd: 1.25 })
    const past = new Date(Date.now() - 1000).toISOString()
    const { db } = under.platform.gateway.store
    await db.updateTable('escrows').set({ expires_at: past }).where('id', '=', task.escrow_id).execute()
    const page = await under.open(`#/tasks/${task.id}`, { key: under.platform.key })
    await page.getByText('Escrow expired').waitFor()
    await page.getByRole('button', { name: 'Refund…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Refund $1.25?' })
    const told = (await dialog.textContent()) ?? ''
    assert.match(told, /ToYou, who locked it/)
    assert.match(told, /Count the stars: the escrow has expired/)
    await dialog.getByLabel('Reason').fill('Nobody can')
    await dialog.getByRole('button', { name: 'Refund $1.25' }).click()
    await page.getByText('$1.25 back to You').waitFor()
    await page.getByText('Nobody can').waitFor()
    assert.equal((await call('GET', `/api/wallet/escrow/${task.escrow_id}`)).status, 'refunded')
    await page.close()
  })

  it('lists a swarm, with its goal and how far it is, behind 1,500 newer tasks', async () => {
    const { swarm_id, tasks } = (await post('/api/tasks/swarm', { goal: GOAL })) as unknown as {
      swarm_id: string
      tasks: Reply[]
    }
    const { gateway, keyId } = under.platform
    for (let i = 0; i < 1500; i++) await gateway.tasks.create(NewTask.parse({ title: `Filler ${i}` }), keyId)
    const page = await under.open('#/swarm')
    const row = page.getByRole('row').filter({ hasText: 'Publish the release notes' }).first()
    await row.getByText(`0 of ${tasks.length}`).waitFor()
    await row.getByText('running').waitFor()
    await inspect(page, 'swarms')
    await row.getByRole('link').click()
    await page.waitForURL(new RegExp(`#/swarm/${swarm_id}`))
    await page.close()
  })
})
