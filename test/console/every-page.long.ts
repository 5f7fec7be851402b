import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { NewTask } from '../../src/tasks/tasks.ts'
import { ask } from '../adapters/platform.ts'
import { until } from '../doubles/until.ts'
import { type ConsoleUnderTest, signIn, startConsole, WITHOUT_BROWSER } from './browser.ts'
import { type InBetween, startInBetween } from './in-between.ts'
import { PAGES } from './page-names.ts'
import { seedCalls } from './seed.ts'

/** Tabs that are open at once. */
const TABS = 3
const SLOW_MS = 2000
/** Patience for a page whose requests wait for one another, each late, in milliseconds. */
const PATIENCE_MS = 120_000
/** Pages that load nothing by themselves, and nobody comes back to. */
const SILENT = ['upstreams/new']
const SIGN_IN = 'Sign in · Gazeway'
const REVOKED = 'This key was revoked or has expired. Sign in with another key.'

describe('every page, in trouble', { skip: WITHOUT_BROWSER }, () => {
  let under: ConsoleUnderTest
  let between: InBetween
  /** Addresses of all pages, those of a record too. */
  let pages: string[]
  before(async () => {
    under = await startConsole()
    const { gateway, keyId } = under.platform
    const [call] = await seedCalls(under.platform)
    const task = await gateway.tasks.create(NewTask.parse({ title: 'Write notes', reward_usd: 0.01 }), keyId)
    const body = { key: 'deploy/staging', value: 'uses the eu-west cluster' }
    assert.equal((await ask(under.platform, 'POST', '/api/memory', { key: under.platform.admin, body })).status, 201)
    pages = [...PAGES, `calls/${call?.call_id}`, `keys/${keyId}`, `tasks/${task.id}`, 'memory/deploy%2Fstaging']
    between = await startInBetween(under.platform.url)
  })
  after(async () => {
    under.assertClean()
    await between.close()
    await under.close()
  })

  /** Has each page in a tab of its own, a few at once. */
  async function inGroups(run: (some: readonly string[]) => Promise<unknown>): Promise<void> {
    for (let first = 0; first < pages.length; first += TABS) await run(pages.slice(first, first + TABS))
  }

  /** Names of the parts of a page: its headings, tables and figures. */
  const partsOf = (page: Page): Promise<string[]> =>
    page.evaluate(() =>
      [...document.querySelectorAll('main :is(h1, h2, dt, table, fieldset > legend)')].map(
        (one) => `${one.tagName} ${one.getAttribute('aria-label') ?? one.textContent}`,
      ),
    )
  const isLoading = async (page: Page): Promise<boolean> => (await page.locator('main .loading').count()) > 0
  /** Waits until a page has all that it had before, and says nothing of trouble. */
  const has = (page: Page, parts: readonly string[], at: string): Promise<unknown> =>
    until(
      async () => {
        const now = new Set(await partsOf(page))
        const troubles = await page.getByRole('alert').count()
        return troubles === 0 && !(await isLoading(page)) && parts.every((part) => now.has(part))
      },
      { what: `${at}: ${parts.join(', ')}`, seconds: PATIENCE_MS / 1000 },
    )
  async function loaded(page: Page): Promise<string[]> {
    await page.locator('main h1').first().waitFor()
    await page.waitForFunction(() => document.querySelector('main .loading') === null, null, { timeout: PATIENCE_MS })
    return partsOf(page)
  }

  it('shows its frame and that it loads where the platform answers two seconds late, and then all it has', async () => {
    await inGroups(async (some) => {
      const tabs = await Promise.all(
        some.map(async (at) => {
          // A browser opens six connections at a time to a server, for all tabs of a context.
          const page = await (await under.browser.newContext({ reducedMotion: 'reduce' })).newPage()
          page.setDefaultTimeout(PATIENCE_MS)
          await page.goto(`${between.url}/#/${at}`)
          await signIn(page, under.platform.admin)
          return { at, page, parts: await loaded(page) }
        }),
      )
      const slowness = between.slowDown(SLOW_MS)
      await Promise.all(
        tabs.map(async ({ at, page, parts }) => {
          await page.reload()
          await page.getByRole('navigation', { name: 'Pages' }).waitFor()
          await page.locator('main h1').or(page.locator('main .loading')).first().waitFor()
          const isWhole = (await partsOf(page)).length === parts.length
          assert.ok(isWhole || (await isLoading(page)), `${at} says nothing while it loads`)
        }),
      )
      slowness.letGo()
      await Promise.all(tabs.map(({ at, page, parts }) => has(page, parts, at)))
      slowness.end()
      await Promise.all(tabs.map(({ page }) => page.context().close()))
    })
  })

  it('gives way to the sign-in once its key is revoked, and nothing of what it showed is left', async () => {
    const { keys } = under.platform.gateway
    const fresh = await under.open('', { key: null })
    const signInText = await fresh.evaluate(() => document.body.textContent ?? '')
    await fresh.close()
    await inGroups((some) =>
      Promise.all(
        some.map(async (at) => {
          const { key, record } = await keys.create({ name: `of ${at}`.slice(0, 60), scopes: ['admin', 'platform'] })
          const page = await under.open(`#/${at}`, { key })
          await loaded(page)
          await keys.revoke(record.id)
          // A person comes back to the tab.
          if (!SILENT.includes(at)) await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
          const isSignedOut = async () =>
            (await page.title()) === SIGN_IN && (await page.getByRole('alert').getByText(REVOKED).count()) > 0
          await until(isSignedOut, { what: `the sign-in in place of ${at}`, seconds: 60 })
          const left = await page.evaluate(() => ({
            text: document.body.textContent ?? '',
            stored: [...Object.entries(sessionStorage), ...Object.entries(localStorage)],
            cookies: document.cookie,
          }))
          const said = left.text.replace(REVOKED, '').replaceAll(/\s+/g, ' ')
          assert.deepEqual(
            { ...left, text: said },
            { text: signInText.replaceAll(/\s+/g, ' '), stored: [], cookies: '' },
            at,
          )
          await page.close()
        }),
      ),
    )
  })
})
