import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ask } from '../adapters/platform.ts'
import { builtConsole, type ConsoleUnderTest, inspect, signIn, startConsole, WITHOUT_BROWSER } from './browser.ts'
import { startInBetween } from './in-between.ts'

/** The first load, compressed, in bytes. */
const FIRST_LOAD_LIMIT = 60_000
/** Pages with a list that may be empty. */
const LISTS = [
  'connections',
  'wallet/ledger',
  'wallet/callers',
  'burn',
  'usage',
  'escrow',
  'tasks',
  'swarm',
  'calls',
  'attention',
  'skills',
  'reviews',
  'sessions',
  'keys/groups',
  'memory',
]

describe('the console', { skip: WITHOUT_BROWSER }, () => {
  let console: ConsoleUnderTest

  before(async () => {
    console = await startConsole()
  })
  after(() => console.close())

  it('is served without a key, under a policy that allows no other server', async () => {
    const { platform } = console
    const reply = await ask(platform, 'GET', '/', { key: null })
    assert.equal(reply.status, 200)
    const policy = reply.headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'none'/)
    assert.match(policy, new RegExp(`connect-src 'self' ws://${new URL(platform.url).host}(;|$)`))
    assert.doesNotMatch(policy, /unsafe|https?:/)
    assert.equal(reply.headers.get('cache-control'), 'no-cache')

    const script = /src="(\/assets\/[^"]+\.js)"/.exec(await reply.text())?.[1] ?? ''
    const asset = await ask(platform, 'GET', script, { key: null, headers: { 'accept-encoding': 'gzip' } })
    assert.equal(asset.headers.get('content-encoding'), 'gzip')
    assert.match(asset.headers.get('cache-control') ?? '', /immutable/)
    const etag = asset.headers.get('etag') ?? ''
    const again = await ask(platform, 'GET', script, { key: null, headers: { 'if-none-match': etag } })
    assert.equal(again.status, 304)
    assert.equal((await ask(platform, 'GET', '/assets/../../package.json', { key: null })).status, 401)
    assert.equal((await ask(platform, 'GET', '/assets/none.js', { key: null })).status, 404)
    assert.equal((await ask(platform, 'POST', '/', { key: null })).status, 405)
  })

  it('loads with less than 60 KB', async () => {
    const page = await console.open('', { key: null })
    const client = await page.context().newCDPSession(page)
    await client.send('Network.enable')
    await client.send('Network.setCacheDisabled', { cacheDisabled: true })
    let received = 0
    client.on('Network.loadingFinished', ({ encodedDataLength }) => {
      received += encodedDataLength
    })
    await page.reload()
    await page.getByLabel('API key').waitFor()
    assert.ok(received > 0 && received < FIRST_LOAD_LIMIT, `the first load is ${received} bytes`)
    await page.close()
  })

  it('refuses a wrong key in words, and takes a right one', async () => {
    const page = await console.open('', { key: null })
    await inspect(page, 'sign-in')
    await page.getByLabel('API key').fill('gzw_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This key is invalid').waitFor()
    await page.getByLabel('API key').fill('')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Enter a key').waitFor()
    await page.getByLabel('API key').fill('ключ')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Check that you pasted the whole key').waitFor()
    assert.equal(await page.getByText('Gazeway does not answer').count(), 0)
    const { key } = await console.platform.gateway.keys.create({ name: 'calls only', scopes: ['inference'] })
    await page.getByLabel('API key').fill(key)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'calls only', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.goto(`${console.platform.url}/#/overview`)
    await signIn(page, console.platform.key)
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    assert.ok(!page.url().includes('gzw_'), 'the key is not in the address')
    await page.reload()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    await page.close()
  })

  it('forgets the key on signing out', async () => {
    const page = await console.open()
    assert.ok((await stored(page)).includes('gzw_'), 'the key is in the tab')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    assert.equal(await stored(page), '{}{}')
    await page.reload()
    await page.getByLabel('API key').waitFor()
    await page.close()
  })

  it('signs out when the key is revoked while it is open', async () => {
    const { gateway } = console.platform
    const { key, record } = await gateway.keys.create({ name: 'short-lived', scopes: ['platform'] })
    const page = await console.open('', { key })
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await gateway.keys.revoke(record.id)
    await page.getByText('This key was revoked').waitFor()
    await signIn(page, console.platform.key)
    await page.close()
  })

  it('says when the platform is gone, keeps what it showed, and carries on once it is back', async () => {
    const page = await console.open()
    await page.getByRole('heading', { name: /^(All systems operational|Look at)/ }).waitFor()
    const serveAgain = await console.platform.pause()
    await page.getByText('Gazeway does not answer; retrying').waitFor()
    await page.locator('.stat', { hasText: 'Cost today' }).waitFor()
    await serveAgain()
    await page.getByText('Gazeway does not answer; retrying').waitFor({ state: 'detached' })
    await page.getByText('running', { exact: true }).waitFor()
    await page.close()
  })

  for (const [fault, what] of [
    ['cut', 'breaks off'],
    ['html', 'is not Gazeway’s'],
  ] as const) {
    it(`carries on after a reply that ${what}`, async (t) => {
      const { platform, context } = console
      const between = await startInBetween(platform.url)
      t.after(() => between.close())
      const page = await context.newPage()
      await page.goto(`${between.url}/#/memory`)
      await signIn(page, platform.key)
      await page.getByText('Facts shared by all').waitFor()
      const spoiling = between.spoil('/api/memory', fault)
      await page.getByRole('alert').first().waitFor()
      spoiling.end()
      await ask(platform, 'POST', '/api/memory', { body: { key: `after-${fault}`, value: 'It goes on.' } })
      await page.getByRole('link', { name: `after-${fault}` }).waitFor()
      await page.getByRole('alert').first().waitFor({ state: 'detached' })
      await page.close()
    })
  }

  it('keeps its navigation when a page fails, and draws that page again when asked to', async () => {
    const { platform, context } = console
    const page = await context.newPage()
    await page.goto(`${platform.url}/#/memory`)
    await signIn(page, platform.key)
    await page.getByText('Facts shared by all').waitFor()
    await page.route('**/api/tasks/stats', (route) => route.fulfill({ json: { total: 0 } }))
    await page.getByRole('link', { name: 'Tasks' }).click()
    await page.getByText('This page failed').waitFor()
    await page.getByRole('link', { name: 'Memory' }).click()
    await page.getByRole('heading', { name: 'Memory', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Tasks' }).click()
    await page.getByText('This page failed').waitFor()
    await page.unroute('**/api/tasks/stats')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('Rewards locked').waitFor()
    await page.route('**/api/tasks/stats', (route) => route.fulfill({ json: { total: 0 } }))
    await page.getByText('This page failed').waitFor()
    await page.unroute('**/api/tasks/stats')
    await page.goto(`${platform.url}/#/tasks?status=open`)
    await page.getByText('Rewards locked').waitFor()
    await page.close()
  })

  it('does not say that there is nothing where it cannot know', async () => {
    const page = await console.open('#/settings')
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    const error = { code: 'store_unavailable', message: 'The store is away.', type: 'server_error', param: null }
    await page.route('**/api/**', (route) => route.fulfill({ status: 503, json: { error } }))
    for (const at of LISTS) {
      await page.goto(`${console.platform.url}/#/${at}`)
      await page.locator('main').getByText(error.message).first().waitFor()
      assert.equal(await page.locator('main .empty').count(), 0, at)
    }
    await page.unroute('**/api/**')
    await page
      .getByText('No memories yet')
      .or(page.getByRole('table', { name: 'Memories' }))
      .waitFor()
    await page.close()
  })

  it('goes on after an update, with pages whose files were renamed by it', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'gazeway-console-'))
    t.after(() => rmSync(folder, { recursive: true }))
    cpSync(await builtConsole(), folder, { recursive: true })
    const updated = await startConsole('sandbox', { consoleFolder: folder })
    t.after(() => updated.close())
    const page = await updated.open()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    const serveAgain = await updated.platform.pause()
    renameScripts(folder)
    await serveAgain()
    await page.getByRole('link', { name: 'Escrow' }).click()
    await page.getByText('Escrow could not be loaded').waitFor()
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('heading', { name: 'Escrow', level: 1 }).waitFor()
    updated.assertClean()
  })

  it('is walked by the keyboard: to the page, through the navigation, and back', async () => {
    const page = await console.open()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Settings' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'MAIN')
    await page.goBack()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await page.goto(`${console.platform.url}/#/nowhere`)
    await page.getByText('There is no page').waitFor()
    await page.close()
  })

  it('opens its navigation from a menu on a narrow screen', async () => {
    const page = await console.open('', { width: 360 })
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Menu' }).getAttribute('aria-expanded'), 'false')
    await page.close()
  })

  it('breaks no policy and asks no other server', () => console.assertClean())
})

const stored = (page: Awaited<ReturnType<ConsoleUnderTest['open']>>) =>
  page.evaluate(() => JSON.stringify(sessionStorage) + JSON.stringify(localStorage))

/** Gives the scripts of a built console the names of another version, as an update does. */
function renameScripts(folder: string): void {
  const names = readdirSync(`${folder}/assets`).filter((name) => /-[\w-]{8}\.js$/.test(name))
  const renamed = (text: string) => names.reduce((all, name) => all.replaceAll(name, newNameOf(name)), text)
  for (const path of ['index.html', ...names.map((name) => `assets/${name}`)]) {
    writeFileSync(`${folder}/${path}`, renamed(readFileSync(`${folder}/${path}`, 'utf8')))
  }
  for (const name of names) renameSync(`${folder}/assets/${name}`, `${folder}/assets/${newNameOf(name)}`)
}

const newNameOf = (name: string) =>
  name.replace(/-([\w-]{8})\.js$/, (_, digest) => `-${[...digest].reverse().join('')}.js`)
