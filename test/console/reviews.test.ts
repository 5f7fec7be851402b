import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { readChange } from '../../src/review/change.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import type { ReviewRecord } from '../../src/review/review-record.ts'
import { ask, type RunningPlatform, startPlatform } from '../adapters/platform.ts'
import { freePort } from '../doubles/free-port.ts'
import { until } from '../doubles/until.ts'
import { createRepository } from '../review/repository.ts'
import { axeFaults, builtConsole, signIn, WITHOUT_BROWSER } from './browser.ts'
import { type FullBrowser, startFullBrowser } from './full-browser.ts'

interface Reply {
  id: string
  status: string
  escrow_id: string
  claim_token: string
  items: Reply[]
}

describe('reviews in the console', { skip: WITHOUT_BROWSER }, () => {
  let platform: RunningPlatform
  let browser: FullBrowser
  let worker: string
  before(async () => {
    const consoleFolder = await builtConsole()
    platform = await startPlatform('sandbox', { consoleFolder, platformPort: await freePort() })
    browser = await startFullBrowser()
    worker = (await platform.gateway.keys.create({ name: 'worker', scopes: ['platform'] })).key
  })
  after(async () => {
    await browser.close()
    await platform.close()
  })

  async function post(path: string, body: object, key = platform.key): Promise<Reply> {
    const reply = await ask(platform, 'POST', path, { key, body })
    const said = (await reply.json()) as Reply
    assert.ok(reply.ok, `${path}: ${JSON.stringify(said)}`)
    return said
  }
  const statusOf = async (taskId: string) => {
    const reply = await ask(platform, 'GET', `/api/wallet/escrow?task_id=${taskId}`, { key: platform.key })
    return ((await reply.json()) as Reply).items[0]?.status
  }

  /** A completed task whose result is the change of a commit, with a mode to acknowledge. */
  async function delivered(t: Parameters<typeof createRepository>[0], review: object, withLines = true) {
    const repository = createRepository(t)
    repository.commitFiles({ 'src/pay.ts': 'check()\nsend(1)\n', 'run.sh': 'echo\n' })
    chmodSync(join(repository.root, 'run.sh'), 0o755)
    repository.commitFiles({ 'src/pay.ts': 'check()\nsend(2)\nnote()\n' })
    const change = await readChange(await openCheckout(repository.root), 'HEAD^', 'HEAD')
    const task = await post('/api/tasks', { title: 'Pay twice', reward_usd: 5, review })
    const { claim_token } = await post(`/api/tasks/${task.id}/claim`, { agent: 'ada' }, worker)
    const { base, head, digest } = change
    const result = withLines ? change : { base: base.commit, head: head.commit, change: digest }
    await post(`/api/tasks/${task.id}/complete`, { agent: 'ada', claim_token, result }, worker)
    return task
  }

  async function open(page: Page, at: string): Promise<void> {
    await page.goto(`${platform.url}/${at}`)
    await signIn(page, platform.key)
  }

  it('lead a payer from a completed task to its paid reward, by reading the delivered change', async (t) => {
    const task = await delivered(t, { level: 'seen' })
    const { page, faults } = await browser.openTab(t)
    await open(page, `#/tasks/${task.id}`)
    await page.getByRole('link', { name: 'Review and pay…' }).click()
    await page.getByText('4 changed lines in 2 files').waitFor()
    await page.getByText(/^100\s?% of the lines read, at the level “seen”$/).waitFor()
    await page.getByRole('button', { name: 'Read the change' }).click()
    await page.getByRole('heading', { name: 'src/pay.ts' }).waitFor()
    assert.deepEqual(await axeFaults(page), [])
    await page.keyboard.press('d')
    const approve = page.getByRole('dialog').getByRole('button', { name: 'Approve and pay $5.00' })
    await page.getByText('Approving pays $5.00 to ada.').waitFor()
    assert.equal(await approve.getAttribute('aria-disabled'), 'true', 'nothing was acknowledged yet')
    await page.keyboard.press('Escape')
    await until(async () => {
      if (await page.getByRole('button', { name: 'Acknowledged' }).isVisible()) return true
      await page.keyboard.press('n')
      await page.keyboard.press('a')
      return false
    })
    await page.getByText('4 of 4 lines read').waitFor()
    assert.equal(await statusOf(task.id), 'locked')
    await page.keyboard.press('d')
    await page.getByLabel('Reviewer').fill('ann@example.org')
    await approve.press('Enter')
    await page.getByText('$5.00 moved to ada.').waitFor()
    assert.equal(await statusOf(task.id), 'released')
    await page.getByText('Every line was read').waitFor()
    assert.equal(await page.getByText(/^4 of 4 lines, 100\s?%$/).count(), 1)
    assert.deepEqual(await axeFaults(page), [])

    await page.getByRole('link', { name: 'All reviews' }).click()
    const row = page.getByRole('row').nth(1)
    await row.getByText('approved').waitFor()
    assert.match((await row.textContent()) ?? '', /4 of 4.*seen/)
    assert.deepEqual(await axeFaults(page), [])
    assert.match((await row.getByRole('link').first().getAttribute('href')) ?? '', /^#\/reviews\/rev_\w+$/)
    await row.getByRole('link').first().press('Enter')
    await page.getByText('Every line was read').waitFor()
    assert.deepEqual(faults, [])
  })

  it('show a receipt with its level and the hunks that were not read, and nothing of other keys', async (t) => {
    const repository = createRepository(t)
    repository.commitFiles({ 'a.txt': 'one\n' })
    repository.commitFiles({ 'a.txt': 'two\n', 'b.txt': 'three\n' })
    const change = await readChange(await openCheckout(repository.root), 'HEAD^', 'HEAD')
    const { id } = await post('/api/reviews', change)
    const env = { path: 'b.txt', line_start: 1, line_end: 1 }
    let since = Date.now()
    await until(async () => {
      const records = [{ at: new Date(since).toISOString(), dwell_ms: Date.now() - since, source: 'ide', env }]
      since = Date.now()
      const reply = await ask(platform, 'POST', `/api/reviews/${id}/evidence`, { key: platform.key, body: { records } })
      return ((await reply.json()) as { parts: { seen: number }[] }).parts[1]?.seen === 1
    })
    const hiding = { path: null, line: null, text: 'no\u202eyes' }
    const comments = [{ path: 'a.txt', line: 1, text: '<b>Why</b> two?' }, hiding]
    await post(`/api/reviews/${id}/decision`, { reviewer: 'ann@example.org', decision: 'request_changes', comments })
    const { page, faults } = await browser.openTab(t)
    await open(page, `#/reviews/${id}`)
    await page.getByText('changes asked for').waitFor()
    assert.equal(await page.getByText('a.txt:1', { exact: true }).count(), 2)
    assert.equal(await page.getByText('b.txt:1').count(), 0)
    await page.getByText(/^1 of 3 lines, 33/).waitFor()
    await page.getByText('<b>Why</b> two?').waitFor()
    await page.getByText('noU+202Eyes').waitFor()
    await page.getByText('The receipt as JSON').click()
    await page.getByText('application/vnd.gazeway.review-receipt.v1+json').waitFor()
    const { items } = (await (await ask(platform, 'GET', '/api/reviews', { key: worker })).json()) as {
      items: ReviewRecord[]
    }
    assert.deepEqual(items, [])
    assert.deepEqual(faults, [])
  })

  it('say how to read a result that names commits alone', async (t) => {
    const task = await delivered(t, {}, false)
    const { page } = await browser.openTab(t)
    await open(page, `#/reviews?task=${task.id}`)
    await page.getByText(`gazeway --remote ${platform.url} review --task ${task.id}`).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Read the change' }).count(), 0)
  })
})
