import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { type RunningPlatform, startPlatform } from '../adapters/platform.ts'
import { freePort } from '../doubles/free-port.ts'

const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
/** The same engine without a browser's window, if it is installed: it takes a third less processor time. It has no camera. */
const SHELL = ['/usr/bin/chromium-headless-shell'].find(existsSync)
/** The browser with a window: the shell says that every page has the focus. */
export const FULL_BROWSER = BROWSER ?? ''
/** Reason to skip browser tests; false if a browser is installed. */
export const WITHOUT_BROWSER = BROWSER ? false : 'Chromium is missing; install it with: apt-get install chromium'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Folder for pictures of the pages; null unless `GAZEWAY_TEST_SCREENSHOTS` is set. */
const SCREENSHOTS = process.env.GAZEWAY_TEST_SCREENSHOTS ? `${ROOT}/test/screenshots` : null
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Draws all tabs of a context in one process: to start one takes longer than most of what a case looks at. */
const ONE_RENDERER = '--renderer-process-limit=1'
/** Impacts that axe calls serious or critical; and all, with those of best practices. */
const SERIOUS = ['serious', 'critical']
export const ANY_IMPACT = [...SERIOUS, 'moderate', 'minor']
/** Time limit for a page to show expected content, in milliseconds. */
const PATIENCE_MS = 30_000

/** The browser of all test files in a process, which is ended after the last case. */
let shared: Promise<Browser> | undefined
after(async () => {
  await (await shared)?.close()
})

/** A platform with the built console, and a browser to look at it with. */
export interface ConsoleUnderTest {
  platform: RunningPlatform
  browser: Browser
  /** Context that the tabs share: the process that draws them is started once, and has the console's scripts compiled. */
  context: BrowserContext
  /** A tab of its own, signed in with `key` (the admin's where absent; null is not signed in), at a page of the console. */
  open(at?: string, options?: OpenOptions): Promise<Page>
  /** A tab in a context of its own, for permissions, a time zone or a clock that the other tabs must not have. */
  openApart(at?: string, options?: OpenOptions & ContextOptions): Promise<Page>
  /** Fails where any tab had a script error, broke the page's policy, or asked another server for anything. */
  assertClean(): void
  close(): Promise<void>
}

interface OpenOptions {
  key?: string | null
  width?: number
}

interface ContextOptions {
  permissions?: string[]
  /** Time zone of the reader: `America/Los_Angeles` */
  timezoneId?: string
}

/**
 * @param upstream a base URL, or `sandbox`
 * @param options as for `startPlatform`; `camera` is the video file that the browser's camera shows
 */
export async function startConsole(
  upstream = 'sandbox',
  { camera, ...options }: Parameters<typeof startPlatform>[1] & { camera?: string } = {},
): Promise<ConsoleUnderTest> {
  const consoleFolder = await builtConsole()
  const platform = await startPlatform(upstream, { consoleFolder, platformPort: await freePort(), ...options })
  const browser = await (camera === undefined ? sharedBrowser() : browserWithCamera(camera))
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  const contexts = [context]
  // As long as one tab is open, the process that draws them goes on.
  await (await context.newPage()).goto(platform.url)
  const faults: string[] = []

  function watch(page: Page): void {
    page.on('pageerror', (error) => faults.push(`script error: ${error.message}`))
    page.on('console', (message) => {
      // What the API refuses is shown to the person; that the browser notes it, too, is no fault.
      const isRefusal = message.text().startsWith('Failed to load resource')
      if (message.type() === 'error' && !isRefusal) faults.push(`console: ${message.text()}`)
    })
    page.on('request', (request) => {
      const { protocol, host } = new URL(request.url())
      if (/^(https?|wss?):$/.test(protocol) && host !== new URL(platform.url).host)
        faults.push(`asked ${request.url()}`)
    })
  }

  async function openIn(place: BrowserContext, at: string, { key = platform.admin, width = 1280 }: OpenOptions) {
    const page = await place.newPage()
    await page.setViewportSize({ width, height: 900 })
    page.setDefaultTimeout(PATIENCE_MS)
    watch(page)
    await page.goto(`${platform.url}/${at}`)
    if (key !== null) await signIn(page, key)
    return page
  }

  return {
    platform,
    browser,
    context,
    open: (at = '', options = {}) => openIn(context, at, options),
    async openApart(at = '', { permissions = [], timezoneId, ...options } = {}) {
      const apart = await browser.newContext({
        permissions,
        reducedMotion: 'reduce',
        ...(timezoneId && { timezoneId }),
      })
      contexts.push(apart)
      return openIn(apart, at, options)
    },
    assertClean: () => assert.deepEqual(faults, []),
    async close() {
      await (camera === undefined ? Promise.all(contexts.map((one) => one.close())) : browser.close())
      await platform.close()
    },
  }
}

function sharedBrowser(): Promise<Browser> {
  shared ??= launch(SHELL ?? BROWSER, [])
  return shared
}

const browserWithCamera = (video: string): Promise<Browser> =>
  launch(BROWSER, ['--use-fake-device-for-media-stream', `--use-file-for-fake-video-capture=${video}`])

const launch = (executablePath = '', flags: readonly string[]): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', ONE_RENDERER, ...flags],
  })

/** Loses the reply to the next POST to a path: Gazeway has done what was asked, and nobody is told. */
export async function loseReply(page: Page, path: string): Promise<void> {
  let lost = false
  await page.route(`**${path}`, async (route) => {
    if (lost || route.request().method() !== 'POST') return route.continue()
    lost = true
    await route.fetch()
    await route.abort('connectionreset')
  })
}

/** Presses a button by the keyboard. */
export async function press(button: Locator): Promise<void> {
  await button.focus()
  await button.press('Enter')
}

/** Waits until an element has the keyboard's focus, and it is still there. */
export async function hasFocus(element: Locator): Promise<void> {
  await element.and(element.page().locator(':focus')).waitFor()
}

/** Signs in as a person does. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page
    .getByRole('button', { name: 'Sign out' })
    .or(page.getByRole('button', { name: 'Menu' }))
    .first()
    .waitFor()
}

/**
 * Faults of accessibility: rule, impact, and the elements at fault.
 *
 * @param rules only these; all where absent
 * @param impacts only faults of these impacts, as axe calls them
 */
export async function axeFaults(
  page: Page,
  rules: string[] | null = null,
  impacts: readonly string[] = SERIOUS,
): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE)
  const violations = await page.evaluate(async (only) => {
    interface Violation {
      id: string
      impact: string | null
      nodes: { html: string; failureSummary?: string }[]
    }
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } }
    return (await axe.run({ resultTypes: ['violations'], ...(only !== null && { runOnly: only }) })).violations
  }, rules)
  return violations
    .filter(({ impact }) => impact !== null && impacts.includes(impact))
    .map(
      ({ id, impact, nodes }) =>
        `${id} (${impact}): ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
    )
}

/**
 * Looks at a page as people do: in light and dark, at 360 (a phone), 641 and 834 (tablets), 1280 and 1920 px. Fails on serious
 * faults of accessibility in either scheme, and where a screen has to be scrolled sideways. Leaves pictures in test/screenshots
 * where `GAZEWAY_TEST_SCREENSHOTS` is set.
 */
export async function inspect(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await picture(page, `${name}-${colorScheme}`)
    // The schemes differ in nothing but colours.
    const rules = colorScheme === 'dark' ? ['color-contrast'] : null
    assert.deepEqual(await axeFaults(page, rules), [], `${name}, ${colorScheme}`)
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  for (const width of [360, 641, 834, 1920]) {
    await page.setViewportSize({ width, height: 900 })
    await drawn(page)
    const { scrolled, wide } = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      const over = [...document.querySelectorAll('main *')].filter(
        (one) => one.getBoundingClientRect().right > clientWidth + 1,
      )
      return {
        scrolled: scrollWidth - clientWidth,
        wide: over.slice(0, 3).map(({ outerHTML }) => outerHTML.slice(0, 120)),
      }
    })
    await picture(page, `${name}-${width}`)
    assert.deepEqual(await axeFaults(page, ['scrollable-region-focusable']), [], `${name}, ${width} px`)
    assert.ok(scrolled <= 0, `${name} is ${scrolled} px too wide at ${width} px: ${wide.join(' ')}`)
  }
  await page.setViewportSize({ width: 1280, height: 900 })
}

/** Waits until a page is drawn in its present size: observers of sizes report with the next frame. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
}

/** Keeps a picture of a whole page in test/screenshots where `GAZEWAY_TEST_SCREENSHOTS` is set. */
export async function picture(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === null) return
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, fullPage: true })
}

/** The console as it is built; where `npm run build` is behind the source, built for these tests. */
export async function builtConsole(): Promise<string> {
  const built = `${ROOT}/dist/console`
  const sources = [`${ROOT}/scripts/build-console.ts`, ...filesIn(`${ROOT}/adapters/console/web`)]
  const newest = Math.max(...sources.map((path) => statSync(path).mtimeMs))
  if (existsSync(`${built}/index.html`) && statSync(`${built}/index.html`).mtimeMs > newest) return built
  const folder = `${tmpdir()}/gazeway-console-${process.getuid?.() ?? 0}-${Math.floor(newest)}-${sources.length}`
  if (existsSync(folder)) return folder
  const making = `${folder}-${process.pid}`
  // The bundler takes a second to load, and is seldom needed.
  const { buildConsole } = await import('../../scripts/build-console.ts')
  await buildConsole(making)
  try {
    renameSync(making, folder)
  } catch (error) {
    // Another test file has made it meanwhile.
    if (!existsSync(folder)) throw error
  }
  return folder
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
}
