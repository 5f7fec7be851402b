import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { ask } from '../adapters/platform.ts'
import { KEYS, startAnvil } from '../chain/anvil.ts'
import { axeFaults, type ConsoleUnderTest, hasFocus, inspect, press, startConsole, WITHOUT_BROWSER } from './browser.ts'

const run = promisify(execFile)
const MODELS = ['llm-4-1-fast-reasoning', 'llm-4.20-0309-reasoning']
/** Calls of the first caller and of the second. */
const CALLS = [5, 2] as const
/** Names of these transfers in the statement. */
const KINDS = { deposit: 'Deposit', reserve: 'Reserved for calls', void: 'Reservation returned' } as const

describe('wallet and usage in the console', { skip: WITHOUT_BROWSER }, () => {
  let under: ConsoleUnderTest
  let other: { key: string; id: string }

  before(async () => {
    under = await startConsole()
    const { platform } = under
    const made = await platform.gateway.keys.create({
      name: 'research',
      scopes: ['platform'],
      limits: { credit_limit_usd: 5 },
    })
    other = { key: made.key, id: made.record.id }
    for (const [caller, many] of [[platform.key, CALLS[0]] as const, [other.key, CALLS[1]] as const]) {
      for (let i = 0; i < many; i++) {
        const body = { caller_id: caller, model: MODELS[i % 2], prompt: `Say ${i}.`, max_tokens: 50 }
        const reply = await ask(platform, 'POST', '/api/wallet/metered/call', { key: null, body })
        assert.equal(reply.status, 200, await reply.text())
      }
    }
    await platform.gateway.wallet.deposit({ caller_id: platform.keyId, amount_usd: 3, reference: 'invoice-1' })
    await backdate(4)
  })
  after(async () => {
    under.assertClean()
    await under.close()
  })

  /** Spreads what was used over the days before today, for the charts: sums are kept by day. */
  async function backdate(days: number): Promise<void> {
    const { db } = under.platform.gateway.store
    const rows = await db.selectFrom('metered_usage').selectAll().execute()
    for (let ago = 1; ago <= days; ago++) {
      const day = new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
      for (const row of rows) {
        const calls = row.calls * ((ago % 3) + 1)
        const values = { ...row, day, calls, margin_micros: 80_000 * calls, upstream_cost_micros: 4000 * ago * calls }
        await db.insertInto('metered_usage').values(values).execute()
      }
    }
  }

  const usageOf = async (query = '', accept = 'application/json') =>
    (
      await ask(under.platform, 'GET', `/api/wallet/metered/usage${query}`, {
        key: under.platform.admin,
        headers: { accept },
      })
    ).text()

  it('shows what a key has, and every transfer of its account', async () => {
    const page = await under.open('#/wallet', { key: under.platform.key })
    await page.getByText('Rewards are paid in the ledger').waitFor()
    const { ledger } = (await (await ask(under.platform, 'GET', '/api/wallet')).json()) as {
      ledger: { available_usd: number }
    }
    await page.locator(`.stat .money[title="${ledger.available_usd} USD"]`).waitFor()
    assert.equal(await page.getByRole('tab', { name: 'Callers and limits' }).count(), 0)
    await inspect(page, 'wallet')
    await page.getByRole('tab', { name: 'Balances' }).press('ArrowRight')
    const statement = page.getByRole('table', { name: 'Transfers, newest first' })
    await statement.getByText('Deposit', { exact: true }).waitFor()
    const { items: transfers } = (await (await ask(under.platform, 'GET', '/api/wallet/ledger')).json()) as {
      items: { kind: keyof typeof KINDS; amount_usd: number }[]
    }
    const lines = (await statement.getByRole('row').allTextContents()).slice(1)
    assert.equal(lines.length, transfers.length)
    for (const [at, { kind }] of transfers.entries()) assert.ok(lines[at]?.includes(KINDS[kind]), lines[at])
    const [deposit, ...others] = lines.filter((line) => line.includes(KINDS.deposit))
    assert.deepEqual(others, [])
    assert.match(deposit ?? '', /deposits → You.*invoice-1.*\+\$3\.00/)
    // One reservation serves several calls. What none of them cost is returned, before or after the deposit.
    const { items: receipts } = JSON.parse(await usageOf(`?caller_id=${under.platform.keyId}`)) as {
      items: { billing: { total_usd: number } }[]
    }
    assert.equal(receipts.length, CALLS[0])
    const microsOf = (amounts: number[]) => Math.round(1e6 * amounts.reduce((sum, usd) => sum + usd, 0))
    const ofCalls = transfers.filter(({ kind }) => kind !== 'deposit').map(({ amount_usd }) => -amount_usd)
    assert.equal(microsOf(ofCalls), microsOf(receipts.map(({ billing }) => billing.total_usd)))
    await inspect(page, 'wallet-ledger')
    await page.getByRole('tab', { name: 'Prices' }).click()
    await page.getByText('llm-4-1-fast-reasoning').waitFor()
    assert.deepEqual(await axeFaults(page), [])
    await page.close()
  })

  it('shows an admin who spent what, by day, caller and model', async () => {
    const page = await under.open('#/usage')
    const { totals } = JSON.parse(await usageOf('?limit=1')) as { totals: { calls: number } }
    await page.locator('.stat', { hasText: 'Calls' }).getByText(String(totals.calls), { exact: true }).waitFor()
    await page.getByRole('list', { name: 'Spending by caller' }).getByText('research').waitFor()
    await page
      .getByRole('list', { name: 'Spending by model' })
      .getByText(MODELS[1] ?? '')
      .waitFor()
    await page.locator('.uplot canvas').waitFor()
    await page.getByText('Spending by day as a table').click()
    assert.equal(await page.getByRole('region', { name: 'Spending by day, values' }).getByRole('row').count(), 31)
    await page.getByText('Spending by day as a table').click()
    await inspect(page, 'usage')
    await page.close()
  })

  it('calls a UTC day by its date, wherever the reader is', async () => {
    const { groups } = JSON.parse(await usageOf('?limit=1&group_by=day')) as {
      groups: { key: string; total_usd: number }[]
    }
    const dates = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
    for (const timezoneId of ['America/Los_Angeles', 'Asia/Tokyo']) {
      const page = await under.openApart('#/usage', { timezoneId })
      await page.getByText('Spending by day as a table').click()
      const table = page.getByRole('region', { name: 'Spending by day, values' })
      for (const { key, total_usd } of groups) {
        const row = table.getByRole('row').filter({
          has: page.getByRole('rowheader', { name: dates.format(Date.parse(key)), exact: true }),
        })
        assert.match((await row.textContent()) ?? '', new RegExp(`\\$${total_usd.toFixed(2)}`), key)
      }
      await page.locator('.uplot .u-over').hover()
      await page
        .locator('.u-legend')
        .getByText(/^[A-Z][a-z]+ \d+, \d{4}$/)
        .waitFor()
      await page.context().close()
    }
  })

  it('downloads the receipts of a selection as the API gives them', async () => {
    const page = await under.open('#/usage')
    await page
      .getByText(`1–${CALLS[0] + CALLS[1]} of`)
      .or(page.getByRole('table', { name: 'Receipts, newest first' }))
      .first()
      .waitFor()
    const saved = async () => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download CSV' }).click(),
      ])
      assert.equal(download.suggestedFilename(), 'receipts.csv')
      return readFileSync(await download.path(), 'utf8')
    }
    const all = await saved()
    assert.equal(all, await usageOf('', 'text/csv'))
    assert.equal(all.trim().split('\r\n').length, 1 + CALLS[0] + CALLS[1])

    await page.getByLabel('Caller', { exact: true }).selectOption(other.id)
    await page.waitForFunction(
      (many) => document.querySelectorAll('table[aria-label="Receipts, newest first"] tbody tr').length === many,
      CALLS[1],
    )
    assert.equal(await saved(), await usageOf(`?caller_id=${other.id}`, 'text/csv'))
    await page.getByLabel('Before').fill('2020-01-01T00:00')
    await page.getByText('No receipt matches', { exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Download CSV' }).isDisabled(), true)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('table', { name: 'Receipts, newest first' }).waitFor()
    await page.close()
  })

  it('never shows figures of another selection, also when loading fails', async () => {
    const error = { code: 'store_unavailable', message: 'The store is away.', type: 'server_error', param: null }
    const page = await under.open(`#/wallet/ledger?caller=${other.id}`)
    await page.locator('.stat').first().waitFor()
    await page.getByRole('table', { name: 'Transfers, newest first' }).waitFor()
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route(`**/api/wallet/ledger?caller_id=${under.platform.keyId}*`, async (route) => {
      await held
      await route.fulfill({ status: 503, json: { error } })
    })
    const asking = page.waitForRequest((request) => request.url().includes(`caller_id=${under.platform.keyId}`))
    await page.getByLabel('Account of').selectOption(under.platform.keyId)
    await asking
    assert.equal(await page.locator('.stat').count(), 0)
    answer()
    await page.getByText(error.message).waitFor()
    assert.equal(await page.locator('.stat, main table').count(), 0)

    await page.goto(`${under.platform.url}/#/usage`)
    await page.locator('.stat', { hasText: 'Spent' }).waitFor()
    await page.getByRole('table', { name: 'Receipts, newest first' }).waitFor()
    await page.route('**/api/wallet/metered/usage?*', (route) => route.fulfill({ status: 503, json: { error } }))
    await page.getByLabel('Period').selectOption('365')
    await page.getByText(error.message).first().waitFor()
    assert.equal(await page.locator('.stat, .bars').count(), 0)
    await page.getByLabel('Caller', { exact: true }).selectOption(other.id)
    await page.getByRole('table', { name: 'Receipts, newest first' }).waitFor({ state: 'detached' })
    await page.close()
  })

  it('says which days it takes, in place of one that there is not', async () => {
    const page = await under.open('#/usage')
    await page.getByLabel('From').waitFor()
    for (const day of ['220266-11-22', 'bad']) {
      await page.goto(`${under.platform.url}/#/usage?from=${day}`)
      await page.getByRole('alert').getByText('from').waitFor()
    }
    await page.getByLabel('From').fill('2020-01-01T00:00')
    await page.getByRole('table', { name: 'Receipts, newest first' }).waitFor()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.close()
  })

  it('has an admin change limits and credit an account', async () => {
    const page = await under.open('#/wallet/callers')
    await inspect(page, 'wallet-callers')
    await page.getByRole('button', { name: 'Edit research' }).click()
    const limits = page.getByRole('dialog', { name: 'Edit research' })
    const save = limits.getByRole('button', { name: 'Save key' })
    await limits.getByLabel('Credit in USD').fill('much')
    await save.click()
    await limits.getByText(/credit_limit_usd: .*must be/).waitFor()
    await limits.getByLabel('Credit in USD').fill('12.5')
    await limits.getByRole('button', { name: 'Add a budget' }).click()
    await limits.getByLabel('Budget 1 in USD').fill('2')
    assert.deepEqual(await axeFaults(page), [])
    await limits.getByLabel('Credit in USD').press('Enter')
    const row = page.getByRole('row').filter({ hasText: 'research' })
    await row.getByText('$12.50').waitFor()
    await row.getByText('$2.00 per day').waitFor()
    const key = (await under.platform.gateway.keys.list({ limit: 10 })).items.find(({ id }) => id === other.id)
    assert.deepEqual([key?.limits.credit_limit_usd, key?.limits.budgets], [12.5, [{ usd: 2, per: 'day' }]])

    await page.getByRole('button', { name: 'Edit research' }).click()
    assert.ok(await save.isDisabled(), 'nothing is changed yet')
    await limits.getByLabel('Credit in USD').fill('20')
    await under.platform.gateway.keys.change(other.id, { limits: { budgets: [{ usd: 3, per: 'day' }] } })
    await save.click()
    await row.getByText('$20.00').waitFor()
    await row.getByText('$3.00 per day').waitFor()

    await page.getByRole('button', { name: 'Deposit for research' }).click()
    const deposit = page.getByRole('dialog', { name: 'Deposit for research' })
    await deposit.getByLabel('Amount in USD').fill('1.5')
    await deposit.getByLabel('Reference').fill('invoice-2')
    await deposit.getByRole('button', { name: 'Add deposit' }).click()
    await page.getByText('research now has $').waitFor()
    await row.getByRole('link', { name: 'research' }).click()
    await page.getByRole('table', { name: 'Transfers, newest first' }).getByText('invoice-2').waitFor()
    await page.locator('.stat').filter({ hasText: 'Budgets' }).getByText('$3.00 per day').waitFor()
    await page.close()
  })

  it('says what to do where there is nothing yet', async () => {
    const { keys } = under.platform.gateway
    const limits = { credit_limit_usd: 5 }
    const { key } = await keys.create({ name: 'new', scopes: ['platform'], limits })
    const page = await under.open('#/usage', { key })
    await page.getByText('No metered calls in this period').waitFor()
    await page.getByText('No receipts', { exact: true }).waitFor()
    assert.deepEqual(await axeFaults(page), [])
    await page.goto(`${under.platform.url}/#/wallet/ledger`)
    await page.getByText('No transfers yet').waitFor()
    await page.locator('.stat').filter({ hasText: 'Budgets' }).getByText('no limit').waitFor()
    const { admin } = under.platform
    const commands: [string, string, string, RegExp][] = [
      ['wallet/ledger', 'No transfers yet', admin, /"available_usd":5\b/],
      ['escrow', 'No escrows yet', key, /"escrow_id":"esc_/],
      ['connections', 'No connections', key, /"ticket":/],
    ]
    for (const [at, title, by, reply] of commands) {
      await page.goto(`${under.platform.url}/#/${at}`)
      const empty = page.locator('.empty').filter({ hasText: title })
      const command = (await empty.locator('.copy code').textContent()) ?? ''
      assert.deepEqual(await axeFaults(page), [], at)
      const { stdout } = await run('sh', ['-c', command], { env: { ...process.env, GAZEWAY_KEY: by } })
      assert.match(stdout, reply, command)
    }
    await page.goto(`${under.platform.url}/#/wallet/ledger`)
    await page.getByRole('table', { name: 'Transfers, newest first' }).getByText('Locked in escrow').waitFor()
    await page.goto(`${under.platform.url}/#/escrow`)
    await page.getByRole('table', { name: 'Escrows, newest first' }).getByText('Summarise the week').waitFor()
    await page.close()
  })

  it('leaves the keyboard where it pressed a button, whatever comes of it', async () => {
    for (let i = 0; i < 26; i++) await under.platform.gateway.keys.create({ name: `bot ${i}`, scopes: ['platform'] })
    const page = await under.open('#/usage')
    const press = async (name: string) => {
      await page.getByRole('button', { name }).focus()
      await page.keyboard.press('Enter')
    }
    const focused = () => page.evaluate(() => document.activeElement?.closest('button')?.textContent)
    await page.getByRole('table', { name: 'Receipts, newest first' }).waitFor()
    const downloading = page.waitForEvent('download')
    await press('Download CSV')
    await downloading
    await page.locator('button[aria-busy]').waitFor({ state: 'detached' })
    assert.equal(await focused(), 'Download CSV')

    await page.goto(`${under.platform.url}/#/wallet/callers`)
    await page.getByRole('button', { name: 'Deposit for bot 25' }).click()
    await page.getByLabel('Amount in USD').fill('much')
    await page.getByLabel('Reference').fill('invoice-3')
    await press('Add deposit')
    await page.getByText(/amount_usd: .*must be/).waitFor()
    assert.equal(await focused(), 'Add deposit')
    await page.keyboard.press('Escape')

    await press('Older')
    await page.getByRole('link', { name: 'research' }).waitFor()
    assert.equal(await focused(), 'Older')
    await page.keyboard.press('Enter')
    await press('Newer')
    await page.getByRole('link', { name: 'bot 25' }).waitFor()
    await page.close()
  })

  it('gives the focus back to what opened a dialog, however that goes', async () => {
    const page = await under.open('#/wallet/callers')
    const dialog = page.getByRole('dialog')
    const limits = page.getByRole('button', { name: 'Edit bot 25' })
    for (const name of ['Cancel', 'Close', 'Save key']) {
      await press(limits)
      await dialog.getByLabel('Credit in USD').fill('7')
      await press(dialog.getByRole('button', { name }))
      await dialog.waitFor({ state: 'detached' })
      await hasFocus(limits)
    }
    const deposit = page.getByRole('button', { name: 'Deposit for bot 25' })
    await press(deposit)
    await dialog.getByLabel('Amount in USD').fill('1')
    await dialog.getByLabel('Reference').fill('invoice-4')
    await press(dialog.getByRole('button', { name: 'Add deposit' }))
    await dialog.waitFor({ state: 'detached' })
    await hasFocus(deposit)
    await page.close()
  })

  it('shows which caller a selection is of, listed or not', async () => {
    const page = await under.open('#/usage?caller=key_environment')
    const caller = page.getByLabel('Caller', { exact: true })
    await caller.locator('option', { hasText: 'research' }).waitFor({ state: 'attached' })
    assert.equal(await caller.locator('option:checked').textContent(), 'GAZEWAY_API_KEY')
    await page.close()
  })

  it('shows what a key owes, on its own page and in the list of keys', async () => {
    const { platform } = under
    const limits = (credit_limit_usd: number) => ({ limits: { credit_limit_usd } })
    const debtor = await platform.gateway.keys.create({ name: 'debtor', scopes: ['platform'], ...limits(5) })
    const { id } = debtor.record
    for (const prompt of ['One.', 'Two.']) {
      const body = { caller_id: debtor.key, model: MODELS[0], prompt, max_tokens: 50 }
      assert.equal((await ask(platform, 'POST', '/api/wallet/metered/call', { key: null, body })).status, 200)
    }
    const lowered = await ask(platform, 'PATCH', `/api/keys/${id}`, { key: platform.admin, body: limits(0) })
    assert.equal(lowered.status, 200)
    const { debt_usd } = await platform.gateway.wallet.balances(id)
    assert.ok(debt_usd > 0.1, String(debt_usd))
    const own = await under.open('#/wallet', { key: debtor.key })
    await own.locator('.stat', { hasText: 'Owed' }).locator(`.money[title="${debt_usd} USD"]`).waitFor()
    await own.close()
    const list = await under.open('#/keys', { key: platform.admin })
    await list.getByRole('row', { name: 'debtor' }).getByText(/owed$/).waitFor()
    await list.close()
  })

  it('knows the names of more keys than the API lists at once', async () => {
    for (let i = 0; i < 1000; i++)
      await under.platform.gateway.keys.create({ name: 'one of many', scopes: ['platform'] })
    const page = await under.open(`#/usage?caller=${other.id}`)
    await page.getByRole('list', { name: 'Spending by caller' }).getByText('research').waitFor()
    const chosen = page.getByLabel('Caller', { exact: true }).locator('option:checked')
    assert.match((await chosen.textContent()) ?? '', /^research · /)
    await page.close()
  })
})

describe('balances across chains in the console', { skip: WITHOUT_BROWSER }, () => {
  it('shows what an address has on each, and that a dead one hides none of the others', async () => {
    const anvil = await startAnvil({ chainId: 31_337 })
    const under = await startConsole('sandbox', {
      env: { GAZEWAY_WALLET_PRIVATE_KEY: KEYS[0] },
      document: {
        chain: {
          networks: {
            31337: { name: 'Test chain', native: { symbol: 'TST', decimals: 18 } },
            2: { name: 'Dead chain' },
          },
          rpc_urls: { 31337: anvil.url, 2: 'http://127.0.0.1:1/' },
        },
      },
      withHttp: false,
    })
    const page = await under.open('#/wallet')
    const table = page.getByRole('table', { name: 'Balances on chains' })
    await table.getByText('The node cannot be reached.').waitFor()
    assert.match((await table.getByRole('row').filter({ hasText: 'Test chain' }).textContent()) ?? '', /10000 TST/)
    await inspect(page, 'wallet-chains')
    under.assertClean()
    await under.close()
    await anvil.stop()
  })
})
