import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { NewTask } from '../../src/tasks/tasks.ts'
import { ask } from '../adapters/platform.ts'
import { until } from '../doubles/until.ts'
import {
  ANY_IMPACT,
  axeFaults,
  type ConsoleUnderTest,
  drawn,
  picture,
  startConsole,
  WITHOUT_BROWSER,
} from './browser.ts'
import { PAGES } from './page-names.ts'
import { seedCalls } from './seed.ts'

const WIDTHS = [390, 1024, 1440, 2560]
const ROW_PX = 36
/** Height of a small button with one line. */
const BUTTON_PX = 28
/** Height of a line of a hint. */
const LINE_PX = 20
const SCHEMES = ['light', 'dark'] as const
/** Sizes of text in the console, in pixels. */
const SIZES = ['12px', '14px', '16px', '20px', '28px']
/** Tells whether a name is one that people give, in place of one that fills a line. */
const isShort = (name: string) => name.length < 100
const LONG = 'k/'.padEnd(480, 'long-')

describe('every page at a phone, a tablet, a laptop and a large screen', { skip: WITHOUT_BROWSER }, () => {
  let under: ConsoleUnderTest
  before(async () => {
    under = await startConsole()
    const { platform } = under
    const { gateway, admin, keyId } = platform
    await seedCalls(platform)
    for (let i = 0; i < 40; i++)
      await gateway.tasks.create(NewTask.parse({ title: `${'Write '.repeat(i % 30)}notes` }), keyId)
    await gateway.keys.create({ name: 'n'.repeat(64), scopes: ['inference', 'platform'], limits: { budgets: BUDGETS } })
    for (const key of ['short', LONG])
      assert.equal((await ask(platform, 'POST', '/api/memory', { key: admin, body: { key, value: LONG } })).status, 201)
  })
  after(async () => {
    under.assertClean()
    await under.close()
  })

  it('scrolls no page sideways, has rows of one line, and text of five sizes, light and dark', async () => {
    const page = await under.open('#/overview', { key: under.platform.admin })
    const faults: string[] = []
    for (const [number, at] of PAGES.entries()) {
      await page.goto(`${under.platform.url}/#/${at}`)
      await page.locator('main h1').waitFor()
      await page.locator('main .loading').first().waitFor({ state: 'detached' })
      for (const [step, width] of WIDTHS.entries()) {
        // The schemes differ in nothing but colours: half of the widths in each, and in turn from page to page.
        await page.emulateMedia({ colorScheme: SCHEMES[(number + step) % 2] ?? null })
        await page.setViewportSize({ width, height: 900 })
        await drawn(page)
        await picture(page, `${at.replace('/', '-')}-${width}-${SCHEMES[(number + step) % 2]}`)
        const { over, rows, sizes, cut, mixed } = await page.evaluate(() => ({
          cut: [...document.querySelectorAll<HTMLElement>('.table-frame td:first-child > .cell')]
            .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
            .map(({ textContent }) => textContent ?? ''),
          mixed: [...document.querySelectorAll('.table-frame table')].flatMap((table) =>
            [...table.querySelectorAll('thead th')]
              .map((_, at) => [...table.querySelectorAll(`tbody td:nth-child(${at + 1})`)])
              .map((cells) =>
                cells.map(({ textContent }) => /^\D?\$[\d,]+\.(\d+)$/.exec(textContent ?? '')?.[1]?.length),
              )
              .filter((decimals) => new Set(decimals.filter(Boolean)).size > 1),
          ),
          over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
          rows: [...document.querySelectorAll('.table-frame tbody tr')].map(
            (row) => row.getBoundingClientRect().height,
          ),
          sizes: [...new Set([...document.querySelectorAll('main *')].map((one) => getComputedStyle(one).fontSize))],
        }))
        assert.ok(over <= 0, `${at} is ${over} px too wide at ${width} px`)
        assert.ok(Math.max(0, ...rows) <= ROW_PX + 1, `${at}: a row of ${Math.max(...rows)} px at ${width} px`)
        assert.deepEqual(
          sizes.filter((size) => !SIZES.includes(size)),
          [],
          `${at}: sizes of text`,
        )
        assert.deepEqual(mixed, [], `${at}: a column of amounts has one number of decimals`)
        if (width === 2560) assert.deepEqual(cut.filter(isShort), [], `${at}: a name is cut beside free room`)
      }
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme })
        const rules = colorScheme === 'dark' ? ['color-contrast'] : null
        faults.push(...(await axeFaults(page, rules, ANY_IMPACT)).map((fault) => `${at}, ${colorScheme}: ${fault}`))
      }
    }
    assert.deepEqual(faults, [])
    await page.close()
  })

  it('has the navigation below its search on a large screen, and what was called on a phone', async () => {
    const page = await under.open('#/calls', { key: under.platform.admin, width: 2560 })
    const search = await page.getByRole('button', { name: 'Find' }).boundingBox()
    const first = await page.getByRole('link', { name: 'Overview' }).boundingBox()
    assert.ok(search && first && first.y - search.y - search.height < 60, `${search?.y}, ${first?.y}`)
    await page.setViewportSize({ width: 390, height: 844 })
    const table = page.getByRole('table', { name: 'Calls' })
    for (const name of ['When', 'Model']) await table.getByRole('columnheader', { name }).waitFor()
    await page.close()
  })

  it('names the way out in one line, and draws its charts over the width of the page, at 1,024 pixels', async () => {
    const page = await under.open('#/overview', { key: under.platform.admin, width: 1024 })
    const charts = page.locator('.strips [role="img"]')
    await charts.nth(3).locator('canvas').waitFor()
    const [main, out] = [await page.locator('main').boundingBox(), page.getByRole('button', { name: 'Sign out' })]
    for (const chart of await charts.all()) {
      const { width = 0 } = (await chart.boundingBox()) ?? {}
      assert.ok(main && width > 0.7 * main.width, `a chart of ${width} px in ${main?.width} px`)
    }
    const box = await out.boundingBox()
    assert.ok(box && box.height <= BUTTON_PX, `${box?.height} px`)
    await out.press('Enter')
    await page.getByLabel('API key').waitFor()
    await page.close()
  })

  it('has all calls on two screens at 1,024 pixels, and the folded columns below a row', async () => {
    const page = await under.open('#/calls', { key: under.platform.admin, width: 1024 })
    const table = page.getByRole('table', { name: 'Calls' })
    await table.getByRole('row').nth(25).waitFor()
    assert.ok((await page.evaluate(() => document.documentElement.scrollHeight)) < 1800)
    assert.equal(await table.getByRole('columnheader', { name: 'Through' }).count(), 0)
    await table.getByRole('columnheader', { name: 'Cost' }).waitFor()
    await table.getByRole('button', { name: 'All columns' }).first().press('Enter')
    await table.getByText('Through').waitFor()
    await page.setViewportSize({ width: 2560, height: 900 })
    await table.getByRole('columnheader', { name: 'Through' }).waitFor()
    await page.close()
  })

  it('shows cut text whole below the pointer and with the focus, until Escape', async () => {
    const page = await under.open('#/memory', { key: under.platform.admin })
    const key = page.getByRole('link', { name: LONG })
    const whole = page.locator('.whole').getByText(LONG)
    await key.focus()
    await whole.waitFor()
    await page.keyboard.press('Escape')
    await whole.waitFor({ state: 'hidden' })
    await key.hover()
    await whole.waitFor()
    await page.close()
  })

  it('names settings whole on a phone, and says in two lines what each does until one edits it', async () => {
    const page = await under.open('#/settings/all', { key: under.platform.admin, width: 390 })
    const heights = () =>
      page
        .locator('.settings > :not(:has(:disabled:not(button))) .setting-hint')
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height))
    await page.getByLabel('upstream.provider').waitFor()
    const lines = (await heights()).map((height) => Math.round(height / LINE_PX))
    assert.ok(lines.length > 100 && Math.max(...lines) <= 2, String(lines))
    const cut = await page
      .locator('.settings > * > :is(label, legend)')
      .evaluateAll((all) => all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length)
    assert.equal(cut, 0)
    const long = page.locator('.field').filter({ has: page.getByLabel('upstream.provider') })
    await page.getByLabel('upstream.provider').focus()
    await long
      .locator('.setting-hint')
      .getByText(/without credentials or query/)
      .waitFor()
    assert.ok(((await long.locator('.setting-hint').boundingBox())?.height ?? 0) > 3 * LINE_PX)
    await page.close()
  })

  it('shows a record beside its list on a large screen, which keeps its filter and page', async () => {
    const page = await under.open('#/tasks?status=open', { key: under.platform.admin, width: 2560 })
    const list = page.getByRole('table', { name: 'Tasks, newest first' })
    await page.getByRole('button', { name: 'Older' }).click()
    await page.getByText('26–40 of 40').waitFor()
    const rows = list.getByRole('link')
    for (const row of [rows.first(), rows.last()]) {
      const name = (await row.textContent()) ?? ''
      await row.press('Enter')
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      await until(async () => (await page.title()) === `${name} · Gazeway`, { what: `the title of ${name}` })
      await list
        .locator('[aria-current]')
        .and(list.getByText(name, { exact: true }))
        .waitFor()
      const [left, right] = await Promise.all([list.boundingBox(), page.getByRole('heading', { name }).boundingBox()])
      assert.ok(
        left && right && left.x + left.width < right.x && right.y < 100,
        `side by side, from the top: ${JSON.stringify([left, right])}`,
      )
    }
    assert.deepEqual(await axeFaults(page), [])
    await page.reload()
    await page.getByText('26–40 of 40').waitFor()
    await page.getByRole('button', { name: 'Newer' }).click()
    await page.getByText('1–25 of 40').waitFor()
    assert.match(page.url(), /#\/tasks\/task_.*status%3Dopen/)
    await page.setViewportSize({ width: 1440, height: 900 })
    await list.waitFor({ state: 'detached' })
    await page.goto(`${under.platform.url}/#/calls`)
    await page.setViewportSize({ width: 2560, height: 900 })
    await page.getByRole('table', { name: 'Calls' }).getByRole('link').first().click()
    await page.getByRole('heading', { name: 'Conversion' }).waitFor()
    await page.getByRole('table', { name: 'Calls' }).waitFor()
    await drawn(page)
    const over = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      return scrollWidth - clientWidth
    })
    assert.ok(over <= 0, `${over} px too wide`)
    await page.close()
  })

  it('returns to the row that was left, with the page and the filter of the list', async () => {
    const page = await under.open('#/tasks?status=open', { key: under.platform.admin, width: 1024 })
    await page.getByRole('button', { name: 'Older' }).click()
    const row = page.getByRole('link', { name: /^(Write )*notes$/ }).last()
    await page.getByText('26–40 of 40').waitFor()
    const name = (await row.textContent()) ?? ''
    await row.scrollIntoViewIfNeeded()
    const left = await page.evaluate(() => scrollY)
    assert.ok(left > 0, 'the list is scrolled')
    await row.press('Enter')
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await page.goBack()
    await page.getByText('26–40 of 40').waitFor()
    assert.match(page.url(), /status=open/)
    await page.locator('a.row-link:focus').getByText(name, { exact: true }).waitFor()
    assert.equal(await page.evaluate(() => scrollY), left)
    await page.reload()
    await page.getByText('26–40 of 40').waitFor()
    await page.close()
  })

  it('shows keys, groups, memories and escrows beside their lists, too', async () => {
    const { platform } = under
    const { groups, tasks } = platform.gateway
    await groups.create({ name: 'painters', budgets: [] })
    await tasks.create(NewTask.parse({ title: 'Paint', reward_usd: 0.01 }), platform.keyId)
    const page = await under.open('#/keys', { key: platform.admin, width: 2560 })
    for (const [at, label, back] of [
      ['keys', 'Keys', 'Keys'],
      ['keys/groups', 'Groups', 'Groups'],
      ['memory', 'Memories', 'Memory'],
      ['escrow', 'Escrows, newest first', 'Escrow'],
    ] as const) {
      await page.goto(`${platform.url}/#/${at}`)
      const list = page.getByRole('table', { name: label, exact: true })
      await list.getByRole('link').first().click()
      await page.getByRole('navigation', { name: 'Back' }).getByRole('link', { name: back, exact: true }).waitFor()
      await list.locator('[aria-current]').waitFor()
      await drawn(page)
      assert.deepEqual(await axeFaults(page), [], at)
    }
    await page.close()

    const own = await under.open('#/keys', { width: 2560 })
    await own.getByRole('heading', { level: 1 }).first().waitFor()
    assert.equal(await own.locator('main > .pane').count(), 1)
    await own.close()
  })
})

const BUDGETS = [
  { usd: 10, per: 'day' as const },
  { usd: 50, per: 'week' as const },
  { usd: 150, per: 'month' as const },
]
