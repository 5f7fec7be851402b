import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { count } from '../../adapters/console/web/format.ts'
import { NewTask } from '../../src/tasks/tasks.ts'
import { ask } from '../adapters/platform.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { type ConsoleUnderTest, startConsole, WITHOUT_BROWSER } from './browser.ts'
import { behind, money, number, type Rows, sumOf } from './rows.ts'

const MODELS = ['llm-4-1-fast-reasoning', 'llm-4.20-0309-reasoning']
/** Metered calls of the admin and of another key: fewer than a page of a list. */
const CALLS = [7, 3] as const

const WALLET = { Available: money('Amount'), 'In escrow': money('Amount') }
const LIMITS = ['Reserved', 'Credit', 'Budgets']

describe('figures of the console', { skip: WITHOUT_BROWSER }, () => {
  let under: ConsoleUnderTest
  let other: { key: string; id: string }

  before(async () => {
    under = await startConsole()
    const { gateway, key, keyId } = under.platform
    const made = await gateway.keys.create({ name: 'other', scopes: ['platform'], limits: { credit_limit_usd: 50 } })
    other = { key: made.key, id: made.record.id }
    await gateway.wallet.deposit({ caller_id: keyId, amount_usd: 20, reference: 'first' })
    for (const [caller, many] of [[key, CALLS[0]] as const, [other.key, CALLS[1]] as const])
      for (let i = 0; i < many; i++) {
        const body = { caller_id: caller, model: MODELS[i % 2], prompt: `Say ${i}.`, max_tokens: 50 }
        assert.equal((await ask(under.platform, 'POST', '/api/wallet/metered/call', { key: null, body })).status, 200)
      }
    const tasks = await Promise.all(
      [1, 2, 4, 8, 3, 5].map((reward_usd) =>
        gateway.tasks.create(NewTask.parse({ title: `Worth ${reward_usd}`, reward_usd }), keyId),
      ),
    )
    await gateway.tasks.create(NewTask.parse({ title: 'Of another', reward_usd: 0.5 }), other.id)
    await gateway.tasks.create(NewTask.parse({ title: 'Later', depends_on: [tasks[0]?.id] }), keyId)
    const [, claimed, failed, cancelled, expired] = tasks
    await claim(claimed?.id)
    await complete(failed?.id, 'failed')
    const { id = '', escrow_id = '' } = tasks[5] ?? {}
    await complete(id)
    const records = humanStream(7, { start: new Date().toISOString() })
    const { attestation } = await gateway.gaze.store({ task_id: id, records }, keyId)
    const release = { escrow_id, attestation_id: attestation.id }
    const released = await ask(under.platform, 'POST', '/api/wallet/escrow/release', { key, body: release })
    assert.equal(released.status, 200, await released.text())
    await gateway.tasks.cancel(cancelled?.id ?? '', { id: keyId, scopes: new Set(['platform']) } as never)
    const past = new Date(Date.now() - 1000).toISOString()
    await gateway.store.db
      .updateTable('escrows')
      .set({ expires_at: past })
      .where('task_id', '=', expired?.id ?? '')
      .execute()
  })
  after(async () => {
    under.assertClean()
    await under.close()
  })

  async function claim(id = ''): Promise<string> {
    const body = { agent: 'ada' }
    const reply = await ask(under.platform, 'POST', `/api/tasks/${id}/claim`, { key: other.key, body })
    assert.equal(reply.status, 200, await reply.clone().text())
    return ((await reply.json()) as { claim_token: string }).claim_token
  }
  async function complete(id: string | undefined, status = 'completed'): Promise<void> {
    const body = { agent: 'ada', claim_token: await claim(id), result: 'Done.', status }
    const reply = await ask(under.platform, 'POST', `/api/tasks/${id}/complete`, { key: other.key, body })
    assert.equal(reply.status, 200, await reply.text())
  }
  /** Opens each figure of a page: its rows add up to it. Those without rows are limits. */
  async function addUp(at: string, sums: Record<string, (rows: Rows) => string>, limits: string[] = []): Promise<void> {
    const page = await under.open(`#/${at}`, { key: under.platform.admin, width: 2560 })
    const figures = page.locator('.stat')
    await figures.first().waitFor()
    const labels = await figures.locator('dt').allTextContents()
    assert.deepEqual(labels.toSorted(), [...Object.keys(sums), ...limits].sort(), at)
    for (const [label, sum] of Object.entries(sums)) {
      const link = figures.filter({ has: page.getByText(label, { exact: true }) }).getByRole('link')
      // A figure of a request of its own may not be known yet.
      await link.filter({ hasNotText: /^—$/ }).waitFor()
      const said = await link.textContent()
      assert.equal(sum(await behind(page, link)), said, `${at}: ${label}`)
    }
    await page.close()
  }

  it('lead from Usage to the receipts that they sum up, those of a day, a caller and a model too', async () => {
    await addUp('usage', {
      Spent: money('Total'),
      'Upstream cost': money('Upstream'),
      Margin: money('Margin'),
      Calls: number,
      Tokens: (rows) => count(sumOf(rows, 'Tokens')),
    })
    const page = await under.open('#/usage', { width: 2560 })
    for (const name of ['Spending by caller', 'Spending by model']) {
      const bars = page.getByRole('list', { name }).getByRole('listitem')
      await bars.nth(1).waitFor()
      for (const bar of await bars.all()) {
        const said = await bar.textContent()
        const rows = await behind(page, bar.getByRole('link'))
        assert.ok(said?.endsWith(`${money('Total')(rows)} · ${rows.length} calls`), `${name}: ${said}`)
      }
    }
    await page.getByText('Spending by day as a table').click()
    const days = page.getByRole('region', { name: 'Spending by day, values' }).getByRole('row')
    const today = days.filter({ has: page.getByRole('link') }).first()
    const said = await today.textContent()
    const rows = await behind(page, today.getByRole('link'))
    assert.equal(rows.length, CALLS[0] + CALLS[1])
    assert.ok(said?.includes(money('Total')(rows)), said ?? '')
    await page.close()
  })

  it('lead from Wallet to transfers, escrows and receipts', async () => {
    const { admin } = under.platform
    await addUp('wallet', WALLET, LIMITS)
    await addUp(`wallet/ledger?caller=${under.platform.keyId}`, WALLET, LIMITS)
    await addUp(`wallet/ledger?caller=${other.id}`, WALLET, LIMITS)
    const page = await under.open('#/wallet/callers', { key: admin, width: 2560 })
    const row = page.getByRole('row').filter({ hasText: 'other' })
    for (const [column, sum] of [
      [1, number],
      [2, money('Total')],
    ] as const) {
      const link = row.getByRole('cell').nth(column).getByRole('link')
      await page.getByRole('link', { name: String(CALLS[1]), exact: true }).waitFor()
      const said = await link.textContent()
      assert.equal(sum(await behind(page, link)), said)
    }
    await page.close()
  })

  it('lead from Escrow and Tasks to the escrows and tasks that they count', async () => {
    const escrows = { 'Locked now': money('Amount'), 'Paid out': money('Amount'), Refunded: money('Amount') }
    await addUp('escrow', escrows)
    const statuses = ['Blocked', 'Open', 'Claimed', 'Completed', 'Failed', 'Cancelled']
    await addUp('tasks', {
      ...Object.fromEntries(statuses.map((label) => [label, number])),
      'Rewards locked': money('Amount'),
    })
  })

  it('lead from the overview to the calls and receipts of today', async () => {
    await addUp(
      'overview',
      {
        'Cost today': money('Cost'),
        'Charged today': money('Total'),
        'Calls today': number,
        'Failed today': number,
        'Refused today': number,
        'Tokens today': (rows) => count(sumOf(rows, 'Tokens')),
      },
      ['Median latency', 'Prompt caches'],
    )
  })

  it('lead from a swarm to its tasks', async () => {
    const body = { goal: '- Measure the start\n- Write it down', reward_usd: 1 }
    const reply = await ask(under.platform, 'POST', '/api/tasks/swarm', { body })
    const { swarm_id } = (await reply.json()) as { swarm_id: string }
    await addUp(`swarm/${swarm_id}`, { Open: number, Reward: money('Reward') })
  })
})
