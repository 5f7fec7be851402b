import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ask } from '../adapters/platform.ts'
import { axeFaults, type ConsoleUnderTest, hasFocus, inspect, press, startConsole, WITHOUT_BROWSER } from './browser.ts'

const MEMORIES = [
  { key: 'deploy/staging', value: 'Uses the eu-west cluster; ask Grace before a release.', tags: ['deploy'] },
  {
    key: 'deploy/limits',
    value: { cpu: 4, memory_gb: 16, regions: ['eu-west', 'us-east'] },
    tags: ['deploy', 'limits'],
  },
  { key: 'style/commits', value: 'One change a commit; the message says why.', namespace: 'team', tags: ['style'] },
  { key: 'later', value: 'Gone in an hour.', ttl_seconds: 3600 },
]

describe('the page Memory', { skip: WITHOUT_BROWSER }, () => {
  let gazeway: ConsoleUnderTest

  before(async () => {
    gazeway = await startConsole()
  })
  after(() => gazeway.close())

  async function recall(key: string, namespace = 'default') {
    const query = new URLSearchParams({ key, namespace })
    const reply = await ask(gazeway.platform, 'GET', `/api/memory/recall?${query}`, { key: gazeway.platform.admin })
    const body = (await reply.json()) as { memory?: Record<string, unknown> }
    return body.memory ?? null
  }

  it('says what to do while nothing is remembered, and stores a first memory', async () => {
    const page = await gazeway.open('#/memory')
    await page.getByText('No memories yet').waitFor()
    await page.getByRole('button', { name: 'New memory' }).click()
    await page.getByLabel('Key').fill('first')
    await page.getByLabel('Kind').selectOption('json')
    await page.getByRole('textbox', { name: 'Value' }).fill('{"a": 1')
    await page.getByRole('button', { name: 'Store' }).click()
    await page.getByText('This is not valid JSON').waitFor()
    assert.deepEqual(await axeFaults(page), [])
    await page.getByRole('textbox', { name: 'Value' }).fill('{"a": 1}')
    await page.getByLabel('Tags').fill('one, two, one')
    await page.getByRole('button', { name: 'Store' }).click()
    await page.getByText('Stored first.').waitFor()
    const memory = await recall('first')
    assert.deepEqual([memory?.value, memory?.tags, memory?.version], [{ a: 1 }, ['one', 'two'], 1])

    await page.getByRole('button', { name: 'New memory' }).click()
    await page.getByLabel('Key').fill('first')
    await page.getByRole('textbox', { name: 'Value' }).fill('another')
    await page.getByRole('button', { name: 'Store' }).click()
    await page.getByRole('alert').waitFor()
    assert.equal((await recall('first'))?.version, 1)
  })

  it('keeps the focus as a memory is stored, edited and forgotten', async () => {
    const page = await gazeway.open('#/memory')
    const dialog = page.getByRole('dialog')
    const opener = page.getByRole('button', { name: 'New memory' })
    await press(opener)
    await dialog.getByLabel('Key').fill('by keyboard')
    await dialog.getByRole('textbox', { name: 'Value' }).fill('a')
    await press(dialog.getByRole('button', { name: 'Store' }))
    await dialog.waitFor({ state: 'detached' })
    await hasFocus(opener)
    const row = page.getByRole('link', { name: 'by keyboard' })
    await press(row)
    const editing = page.getByRole('button', { name: 'Edit' })
    await press(editing)
    await dialog.getByRole('textbox', { name: 'Value' }).waitFor()
    await hasFocus(dialog.getByLabel('Kind'))
    await press(dialog.getByRole('button', { name: 'Cancel' }))
    await hasFocus(editing)
    const deleting = page.getByRole('button', { name: 'Delete' })
    await press(deleting)
    await press(dialog.getByRole('button', { name: 'Cancel' }))
    await hasFocus(deleting)
    await page.goBack()
    await hasFocus(row)
    await press(row)
    await press(deleting)
    await press(dialog.getByRole('button', { name: 'Delete memory' }))
    await page.getByText('Deleted by keyboard.').waitFor()
    await page.getByRole('heading', { name: 'Memory', level: 1 }).waitFor()
    await row.waitFor({ state: 'detached' })
    await hasFocus(page.locator('main'))
    await page.close()
  })

  it('lists, filters by namespace and tag, and searches with typos', async () => {
    for (const body of MEMORIES)
      await ask(gazeway.platform, 'POST', '/api/memory', { key: gazeway.platform.admin, body })
    const page = await gazeway.open('#/memory')
    const table = page.getByRole('table', { name: 'Memories' })
    await table.getByText('deploy/staging').waitFor()
    assert.equal(await table.getByRole('row').count(), MEMORIES.length + 2)
    await inspect(page, 'memory')
    await page.getByLabel('Namespace').selectOption('team')
    await table.getByText('deploy/staging').waitFor({ state: 'detached' })
    await table.getByText('style/commits').waitFor()
    await page.getByLabel('Namespace').selectOption('')
    await page.getByLabel('Tag').fill('limits')
    await table.getByText('style/commits').waitFor({ state: 'detached' })
    await table.getByText('deploy/limits').waitFor()
    await page.getByLabel('Tag').fill('')
    await page.getByLabel('Search').fill('stagin relase')
    await page.getByText(/match(es)?$/).waitFor()
    assert.match(String(await table.getByRole('row').nth(1).textContent()), /deploy\/staging/)
    await page.getByLabel('Search').fill('zzzzqqqq')
    await page.getByText('No memory matches').waitFor()
  })

  it('names the key that wrote a memory, or this machine', async () => {
    const { gateway, gatewayUrl } = gazeway.platform
    const { key } = await gateway.keys.create({ name: 'build bot', scopes: ['inference'] })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ key: 'of the bot', value: 'built' })
    assert.equal((await fetch(`${gatewayUrl}/memory/store`, { method: 'POST', headers, body })).status, 201)
    await gateway.memory.store({ key: 'of a tool', value: 'typed', namespace: 'default' })
    const page = await gazeway.open('#/memory')
    for (const [name, writer] of [
      ['of the bot', 'build bot'],
      ['of a tool', 'This machine'],
    ] as const) {
      await page.getByRole('row', { name }).getByText(writer).waitFor()
      await page.getByRole('link', { name }).click()
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      await page.getByText(writer).waitFor()
      await page.goBack()
    }
    await page.close()
  })

  it('shows a memory by the address of its row, in another tab too, and goes back to its list', async () => {
    const { gateway } = gazeway.platform
    const project = 'github.com/ann/shop'
    for (const [value, of] of [
      ['of every project', null],
      ['of the shop alone', project],
    ] as const)
      await gateway.memory.store({ key: 'two/places', value, namespace: 'team', project: of })
    const page = await gazeway.open('#/memory?namespace=team')
    const rows = page.getByRole('row', { name: 'two/places' })
    const address = await rows.filter({ hasText: 'shop alone' }).getByRole('link').getAttribute('href')
    await rows.filter({ hasText: 'every project' }).getByRole('link').click()
    await page.locator('pre').getByText('of every project').waitFor()
    await page.goBack()
    await rows.first().waitFor()
    assert.match(page.url(), /#\/memory\?namespace=team$/)
    await page.close()

    const other = await gazeway.open(address ?? '')
    await other.locator('pre').getByText('of the shop alone').waitFor()
    await other.getByText(project).waitFor()
    await other.getByRole('navigation', { name: 'Back' }).getByRole('link', { name: 'Memory' }).click()
    await other.getByRole('table', { name: 'Memories' }).waitFor()
    await other.goto(`${gazeway.platform.url}/#/memory/gone`)
    await other.getByText('There is no memory gone').waitFor()
    await other.close()
  })

  it('opens a memory by an address of before, with the key in the query', async () => {
    const page = await gazeway.open('#/memory?key=deploy%2Fstaging&in=default')
    await page.getByRole('heading', { name: 'deploy/staging', level: 1 }).waitFor()
    await page.getByRole('region', { name: 'Text of the value' }).getByText('Uses the eu-west cluster').waitFor()
    assert.match(page.url(), /#\/memory\/deploy%2Fstaging\?in=default$/)
    await page.close()
  })

  it('scrolls a long value within its height, by the keyboard too', async () => {
    const body = { key: 'long', value: 'Line.\n'.repeat(900) }
    await ask(gazeway.platform, 'POST', '/api/memory', { key: gazeway.platform.admin, body })
    const page = await gazeway.open('#/memory/long?in=default')
    const value = page.getByRole('region', { name: 'Text of the value' })
    await value.waitFor()
    assert.ok(((await value.boundingBox())?.height ?? 900) <= 0.6 * 900 + 1)
    await value.focus()
    await page.keyboard.press('PageDown')
    await page.waitForFunction(() => (document.querySelector('main pre')?.scrollTop ?? 0) > 100)
    await page.close()
  })

  it('edits a memory with the keyboard, and keeps what another has written meanwhile', async () => {
    const { platform } = gazeway
    const page = await gazeway.open('#/memory')
    const row = page.getByRole('link', { name: 'deploy/staging' })
    await row.focus()
    await page.keyboard.press('Enter')
    await page.locator('pre').waitFor()
    await inspect(page, 'memory-page')
    await page.getByRole('button', { name: 'Edit' }).press('Enter')
    assert.deepEqual(await axeFaults(page), [])
    await page.getByRole('textbox', { name: 'Value' }).fill('Uses the us-east cluster.')
    await page.getByRole('button', { name: 'Save' }).press('Enter')
    await page.getByText('Saved deploy/staging as version 2.').waitFor()
    const memory = await recall('deploy/staging')
    assert.deepEqual([memory?.value, memory?.tags], ['Uses the us-east cluster.', ['deploy']])

    await page.getByRole('button', { name: 'Edit' }).click()
    const other = { ...MEMORIES[0], value: 'Written by an assistant.' }
    await ask(platform, 'POST', '/api/memory', { key: platform.admin, body: other })
    await page.getByRole('textbox', { name: 'Value' }).fill('Written by a person.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    assert.equal((await recall('deploy/staging'))?.value, 'Written by an assistant.')
  })

  it('leaves tags that were not touched as they are, and edits a memory that is empty', async () => {
    const tags = ['deploy, eu', 'x'.repeat(64)]
    for (const [key, value] of [
      ['with a comma', 'one'],
      ['empty', ''],
    ])
      await ask(gazeway.platform, 'POST', '/api/memory', { key: gazeway.platform.admin, body: { key, value, tags } })
    const page = await gazeway.open('#/memory')
    await inspect(page, 'memory-tags')
    await page.getByRole('link', { name: 'with a comma' }).click()
    await page.locator('pre').waitFor()
    await inspect(page, 'memory-page-tags')
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Value' }).fill('two')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved with a comma as version 2.').waitFor()
    const edited = await recall('with a comma')
    assert.deepEqual([edited?.value, edited?.tags], ['two', tags])
    await page.goBack()

    await page.getByRole('link', { name: 'empty' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Tags').fill('few, words')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved empty as version 2.').waitFor()
    const empty = await recall('empty')
    assert.deepEqual([empty?.value, empty?.tags], ['', ['few', 'words']])
  })

  it('keeps the expiry of what it edits, and deletes after a question', async () => {
    const page = await gazeway.open('#/memory')
    const before = await recall('later')
    await page.getByRole('link', { name: 'later' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Value' }).fill('Still gone in an hour.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved later as version 2.').waitFor()
    const after = await recall('later')
    const moved = Date.parse(String(after?.expires_at)) - Date.parse(String(before?.expires_at))
    assert.ok(Math.abs(moved) < 2000, `the expiry moved by ${moved} ms`)

    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('This cannot be undone').waitFor()
    await page.getByRole('button', { name: 'Delete memory' }).click()
    await page.getByText('Deleted later.').waitFor()
    assert.equal(await recall('later'), null)
    await page.getByRole('link', { name: 'later' }).waitFor({ state: 'detached' })
  })

  it('makes no request to another host, and violates no content security policy', () => gazeway.assertClean())
})
