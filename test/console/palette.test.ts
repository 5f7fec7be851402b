import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { NewTask } from '../../src/tasks/tasks.ts'
import type { ReceiptRecord } from '../../src/wallet/receipts/receipt.ts'
import { ask } from '../adapters/platform.ts'
import { axeFaults, type ConsoleUnderTest, hasFocus, startConsole, WITHOUT_BROWSER } from './browser.ts'
import { seedCalls } from './seed.ts'

/** Field of the palette. */
const finder = (page: Page) => page.getByRole('combobox', { name: 'Page, name, id or action' })

const HOSTILE = '<img src=x onerror=alert(1)>'
const MODEL = 'llm-4-1-fast-reasoning'

describe('the palette', { skip: WITHOUT_BROWSER }, () => {
  let under: ConsoleUnderTest
  let taskId: string
  let escrowId: string
  let callId: string
  let receipt: ReceiptRecord
  before(async () => {
    under = await startConsole()
    const { platform } = under
    const [call] = await seedCalls(platform)
    callId = call?.call_id ?? ''
    const ofSession = { ...call, call_id: 'call_of_night', caller_id: platform.keyId, session_id: 'night' }
    platform.gateway.calls.record(ofSession as CallRecord)
    await platform.gateway.groups.create({ name: 'painters', budgets: [] })
    const facts = { repository: 'https://github.com/ann/paint.git', branch: 'fix/colour' }
    await platform.gateway.calls.flush()
    const noted = await ask(platform, 'POST', '/api/coding-sessions/night/facts', { key: platform.key, body: facts })
    assert.equal(noted.status, 200)
    const asked = NewTask.parse({ title: `Paint ${HOSTILE}`, reward_usd: 1 })
    const task = await platform.gateway.tasks.create(asked, platform.keyId)
    taskId = task.id
    escrowId = task.escrow_id ?? ''
    const call_of_key = { caller_id: platform.key, model: MODEL, prompt: 'Say one.', max_tokens: 50 }
    const paid = await ask(platform, 'POST', '/api/wallet/metered/call', { key: null, body: call_of_key })
    assert.equal(paid.status, 200)
    const { items } = (await (await ask(platform, 'GET', '/api/wallet/metered/usage')).json()) as {
      items: ReceiptRecord[]
    }
    receipt = items[0] as ReceiptRecord
    const body = { key: 'palette/colour', value: 'blue' }
    assert.equal((await ask(platform, 'POST', '/api/memory', { key: platform.admin, body })).status, 201)
  })
  after(async () => {
    under.assertClean()
    await under.close()
  })

  const type = async (page: Page, text: string) => {
    await page.keyboard.press('Control+k')
    await hasFocus(finder(page))
    await page.keyboard.type(text)
  }

  /** Pastes a text while an element has the focus. */
  const paste = (page: Page, selector: string, pasted: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((target, text) => {
        const clipboardData = new DataTransfer()
        clipboardData.setData('text', text)
        target.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }))
      }, pasted)

  it('leads by the keyboard to pages, actions and records of each kind', async () => {
    const page = await under.open('#/overview', { key: under.platform.admin })
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    const kinds: [string, string, string, RegExp][] = [
      ['escr', 'Pages', 'Escrow', /#\/escrow/],
      ['failed', 'Actions', 'Show failed calls', /#\/calls\?status=error/],
      [callId, 'Calls', callId, new RegExp(`#/calls/${callId}`)],
      [taskId, 'Tasks', taskId, new RegExp(`#/tasks/${taskId}`)],
      ['paint', 'Tasks', HOSTILE, new RegExp(`#/tasks/${taskId}`)],
      ['research bot', 'Keys', 'research bot', /#\/keys\/key_/],
      [under.platform.keyId, 'Keys', under.platform.keyId, new RegExp(`#/keys/${under.platform.keyId}`)],
      ['make, edit', 'Actions', 'Make, edit or revoke a key', /#\/keys$/],
      ['painters', 'Keys', 'painters', /#\/keys\/grp_/],
      ['default', 'Upstreams', 'default', /#\/settings\/providers$/],
      ['fix/colour', 'Sessions', 'fix/colour', /#\/sessions\?branch=fix%2Fcolour$/],
      ['github.com/ann/paint', 'Sessions', 'github.com/ann/paint', /#\/sessions\?repository=/],
      ['night', 'Sessions', 'night', new RegExp(`#/sessions/night\\?key=${under.platform.keyId}`)],
      ['palette/col', 'Memories', 'palette/colour', /#\/memory\/palette%2Fcolour\?in=default$/],
      [escrowId, 'Escrows', escrowId, new RegExp(`#/escrow/${escrowId}$`)],
      [receipt.call_id, 'Receipts', MODEL, new RegExp(`#/calls/${receipt.upstream_call_id}$`)],
      ['audit.store', 'Settings', 'audit.store_content', /#\/settings\/all\?words=audit/],
    ]
    for (const [text, group, label, address] of kinds) {
      await type(page, text)
      const option = page.getByRole('option').filter({ hasText: group }).filter({ hasText: label }).first()
      await option.waitFor()
      for (let i = 0; i < 20 && (await option.getAttribute('aria-selected')) !== 'true'; i++)
        await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.waitForURL(address)
      assert.equal(await finder(page).count(), 0)
    }
    await page.close()
  })

  it('has no faults of accessibility, says when nothing is found, and closes with Escape', async () => {
    const page = await under.open('#/tasks', { key: under.platform.admin })
    await page.getByRole('button', { name: 'Find' }).click()
    await hasFocus(finder(page))
    await page.getByRole('option').first().waitFor()
    assert.deepEqual(await axeFaults(page), [])
    await page.keyboard.type('no such thing anywhere')
    await page.getByText('Nothing has this name or id.').waitFor()
    await page.keyboard.press('Escape')
    await finder(page).waitFor({ state: 'detached' })
    await hasFocus(page.getByRole('button', { name: 'Find' }))
    await page.close()
  })

  it('opens with a text that is pasted on a page, and leaves one that is pasted into a field', async () => {
    const page = await under.open('#/calls', { key: under.platform.admin })
    await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
    await paste(page, 'main input', ` ${taskId} `)
    await paste(page, 'main h1', ` ${taskId} `)
    await page.getByRole('option').filter({ hasText: 'Tasks' }).first().waitFor()
    assert.equal(await finder(page).inputValue(), taskId)
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`#/tasks/${taskId}`))
    await page.keyboard.press('Control+k')
    assert.equal(await finder(page).inputValue(), '', 'the palette begins empty')
    await page.close()
  })

  it('asks for a text that is pasted on a page once a key is pressed, and never for a secret', async () => {
    const page = await under.open('#/overview', { key: under.platform.admin })
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    const asked: string[] = []
    page.on('request', (request) => {
      asked.push(decodeURIComponent(`${request.url()} ${request.postData() ?? ''}`))
    })
    const askedFor = (text: string) => asked.filter((one) => one.includes(text))
    const found = page.getByRole('option').filter({ hasText: 'palette/colour' })
    await paste(page, 'main h1', 'palette/col')
    await page.getByText('Enter searches for this text, Esc closes.').waitFor()
    // The overview asks for the health every 3 s; a search comes 150 ms after the text.
    for (const _ of [1, 2]) await page.waitForRequest((request) => request.url().endsWith('/health'))
    assert.deepEqual(askedFor('palette/col'), [])
    await page.keyboard.press('Enter')
    await found.waitFor()
    assert.ok(askedFor('palette/col').length > 0)
    await page.keyboard.press('Escape')
    await finder(page).waitFor({ state: 'detached' })
    const secret = `sk-proj-${'a1b2'.repeat(8)}`
    await paste(page, 'main h1', secret)
    await page.getByText('This looks like a key of a model provider. Records are not searched for it.').waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.type('z')
    await page.keyboard.press('Control+a')
    await page.keyboard.type('palette/col')
    await found.waitFor()
    assert.deepEqual(askedFor(secret), [])
    await page.close()
  })

  it('finds for a key what that key may read, and refuses it nothing aloud', async () => {
    const page = await under.open('#/tasks')
    await type(page, 'paint')
    await page.getByRole('option').filter({ hasText: HOSTILE }).waitFor()
    assert.equal(await page.getByRole('dialog').getByRole('alert').count(), 0)
    await page.close()
  })
})
