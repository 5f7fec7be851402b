import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Browser, chromium } from 'playwright-core'

const BROWSER = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync)
/** Reason to skip what looks at the site; false if a browser is installed. */
export const WITHOUT_BROWSER = BROWSER ? false : 'Chromium is missing; install it with: apt-get install chromium'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

/** A page of the site as a browser shows it. */
export interface SitePage {
  /** Findings of axe, as `rule: the first element`. */
  findings: string[]
  /** Errors of scripts, and requests to other hosts and for files that are not there. */
  faults: string[]
  /** Size of its first load, compressed as a host does, in bytes: pictures apart. */
  weight: number
}

/** The built site, served below its base, and a browser. */
export interface ServedSite {
  look(page: string, scheme: 'light' | 'dark'): Promise<SitePage>
  /** Titles that the search of the site finds. */
  find(words: string): Promise<string[]>
  close(): Promise<void>
}

/**
 * Serves a built site and looks at its pages in Chromium.
 *
 * @param base path that it is served below, such as `/gazeway/`
 */
export async function serveSite(folder: string, base: string): Promise<ServedSite> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site')
    const path = normalize(pathname.slice(base.length).replace(/^$|\/$/, '$&index.html'))
    const file = join(folder, path)
    const isThere = pathname.startsWith(base) && !path.startsWith('..') && existsSync(file) && statSync(file).isFile()
    response.writeHead(isThere ? 200 : 404, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' })
    response.end(isThere ? readFileSync(file) : '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const browser: Browser = await chromium.launch({
    executablePath: BROWSER ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })

  async function open(page: string, scheme: 'light' | 'dark') {
    const context = await browser.newContext({ reducedMotion: 'reduce', colorScheme: scheme })
    const tab = await context.newPage()
    const faults: string[] = []
    let weight = 0
    tab.on('pageerror', (error) => faults.push(`script error: ${error.message}`))
    tab.on('response', async (response) => {
      const url = new URL(response.url())
      if (url.protocol === 'data:') return
      if (url.origin !== origin) return void faults.push(`asked ${url}`)
      if (!response.ok()) return void faults.push(`${url.pathname}: ${response.status()}`)
      const file = join(folder, url.pathname.slice(base.length).replace(/^$|\/$/, '$&index.html'))
      if (!/\.(?:png|svg)$/.test(file)) weight += gzipSync(readFileSync(file)).length
    })
    await tab.goto(`${origin}${base}${page}`, { waitUntil: 'networkidle' })
    return { tab, context, faults, weighed: () => weight }
  }

  return {
    async look(page, scheme) {
      const { tab, context, faults, weighed } = await open(page, scheme)
      const weight = weighed()
      await tab.evaluate(AXE)
      const findings = await tab.evaluate<string[]>(
        'axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html.slice(0, 160))))',
      )
      await context.close()
      return { findings, faults, weight }
    },
    async find(words) {
      const { tab, context } = await open('', 'light')
      await tab.keyboard.press('Control+k')
      await tab.getByRole('searchbox').fill(words)
      const results = tab.locator('.VPLocalSearchBox .result .titles')
      await results.first().waitFor()
      const titles = await results.allInnerTexts()
      await context.close()
      return titles.map((title) => title.replace(/\s+/g, ' ').trim())
    },
    async close() {
      await browser.close()
      server.closeAllConnections()
      server.close()
    },
  }
}
