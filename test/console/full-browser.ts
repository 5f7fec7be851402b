import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { FULL_BROWSER } from './browser.ts'

/** A tab, which has the focus only while it is in front. */
interface Tab {
  context: BrowserContext
  page: Page
  /** Script errors, and what the page's policy refused. */
  faults: string[]
}

/** Chromium with windows that have the focus or not, as a person's. */
export interface FullBrowser {
  openTab(t: TestContext, options?: { withClock?: boolean }): Promise<Tab>
  close(): Promise<void>
}

const FLAGS = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run']

/** Starts Chromium with a profile of its own. @param flags besides those of all tests */
export async function startFullBrowser(flags: readonly string[] = []): Promise<FullBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'gazeway-browser-'))
  const place = [`--user-data-dir=${profile}`, '--remote-debugging-port=0', '--window-size=1280,900', 'about:blank']
  const own = spawn(FULL_BROWSER, [...FLAGS, ...flags, ...place], { stdio: ['ignore', 'ignore', 'pipe'] })
  // With its defaults, every tab would say that it has the focus.
  const browser = await chromium.connectOverCDP(await said(own.stderr, /ws:\/\/\S+/), { noDefaults: true })
  return {
    async openTab(t, { withClock = false } = {}) {
      const [context] = browser.contexts() as [BrowserContext]
      const page = await context.newPage()
      t.after(() => page.close())
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(error.message))
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
      page.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`))
      if (withClock) await page.clock.install()
      return { context, page, faults }
    },
    async close() {
      // Ended by itself, so that none of its processes writes into the profile while it is removed.
      const gone = own.exitCode === null && own.signalCode === null && once(own, 'exit')
      const devtools = await browser.newBrowserCDPSession()
      await devtools.send('Browser.close').catch(() => own.kill('SIGKILL'))
      await gone
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Waits until a process writes something. */
export function said(stream: Readable, what: RegExp): Promise<string> {
  let written = ''
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk) => {
      written += chunk
      const [found] = what.exec(written) ?? []
      if (found !== undefined) resolve(found)
    })
    stream.on('end', () => reject(new Error(written)))
  })
}
