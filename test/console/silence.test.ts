import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type ConsoleUnderTest, signIn, startConsole, WITHOUT_BROWSER } from './browser.ts'
import { type InBetween, startInBetween } from './in-between.ts'

const BANNER = 'Gazeway does not answer; retrying'

describe('a platform that takes requests and answers none', { skip: WITHOUT_BROWSER }, () => {
  let under: ConsoleUnderTest
  let between: InBetween

  before(async () => {
    under = await startConsole()
    between = await startInBetween(under.platform.url)
  })
  after(async () => {
    await between.close()
    await under.close()
  })

  async function open(at = ''): Promise<Page> {
    const page = await under.browser.newPage()
    await page.goto(`${between.url}/${at}`)
    await signIn(page, under.platform.admin)
    return page
  }

  const partOf = (page: Page, name: string) => page.locator('.health li', { hasText: name })

  it('is not shown as running for longer than 15 s, and is again by itself once it answers', async () => {
    const page = await open()
    await partOf(page, 'Platform').getByText('running').waitFor()
    const speak = between.fallSilent()
    const since = performance.now()
    await partOf(page, 'Platform').getByText('does not answer').waitFor()
    for (const name of ['Store', 'Agent gateway', 'Models', 'Chains'])
      await partOf(page, name).getByText('not known').waitFor()
    await page.getByText(BANNER).waitFor()
    const tookMs = performance.now() - since
    assert.ok(tookMs < 15_000, `${Math.round(tookMs)} ms`)
    speak()
    await page.getByText(BANNER).waitFor({ state: 'detached' })
    await partOf(page, 'Platform').getByText('running').waitFor()
    await partOf(page, 'Store').getByText('working').waitFor()
    await page.close()
  })

  it('is not known where the last answer is older than 15 s, before the next question is given up', async () => {
    const page = await under.browser.newPage()
    await page.clock.install()
    await page.goto(between.url)
    await signIn(page, under.platform.admin)
    await partOf(page, 'Platform').getByText('running').waitFor()
    const speak = between.fallSilent()
    await page.clock.fastForward(16_000)
    await partOf(page, 'Platform').getByText('not known').waitFor()
    await partOf(page, 'Store').getByText('not known').waitFor()
    speak()
    await partOf(page, 'Platform').getByText('running').waitFor()
    await page.close()
  })

  it('is not taken for silent because of one slow answer, which is given up after 5 s', async () => {
    const page = await open('#/memory')
    await page.getByText('Facts shared by all').waitFor()
    const speak = between.fallSilent('/api/memory')
    await page.getByText('Gazeway did not answer within 5 s').first().waitFor()
    assert.equal(await page.getByText(BANNER).count(), 0)
    speak()
    await page.getByText('Gazeway did not answer within 5 s').first().waitFor({ state: 'detached' })
    assert.equal(await page.getByText(BANNER).count(), 0)
    await page.close()
  })

  it('is given up after 5 s where it sent half of an answer, without a script error', async () => {
    const page = await open('#/memory')
    const errors: Error[] = []
    page.on('pageerror', (error) => errors.push(error))
    await page.getByText('Facts shared by all').waitFor()
    const { end } = between.spoil('/api/memory', 'half')
    await page.getByText('Gazeway did not answer within 5 s').first().waitFor()
    end()
    await page.getByText('Gazeway did not answer within 5 s').first().waitFor({ state: 'detached' })
    assert.deepEqual(errors, [])
    await page.close()
  })
})
