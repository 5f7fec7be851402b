import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { freePort } from '../test/doubles/free-port.ts'
import { temporaryFolder } from './folder.ts'
import { startServer } from './http-process.ts'
import type { Report } from './report.ts'
import { median } from './stats.ts'

const KEY = 'a-fixed-admin-key-for-this-run'
const CHROMIUM = '/usr/bin/chromium'
const LOADS = 9

/** Size of the console's first load, and time until it can be used, in a fresh browser profile each time. */
export async function section(report: Report): Promise<void> {
  if (!existsSync(CHROMIUM)) {
    process.stderr.write(
      `${CHROMIUM} is missing: the console is not measured. Install it with: apt-get install chromium\n`,
    )
    return
  }
  const port = await freePort()
  const args = [
    'dist/cli.js',
    '--http',
    '--port',
    '0',
    '--platform',
    '--platform-port',
    `${port}`,
    '--upstream',
    'sandbox',
  ]
  const env = { GAZEWAY_HOME: join(temporaryFolder('console'), 'data'), GAZEWAY_API_KEY: KEY }
  const platform = await startServer(process.execPath, args, { port, env })
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  const loads: Load[] = []
  for (let i = 0; i <= LOADS; i++) loads.push(await load(browser, `http://127.0.0.1:${port}/`))
  await browser.close()
  await platform.stop()

  // The first warms the disk's cache and the server.
  const measured = loads.slice(1)
  const of = (figure: keyof Load) => median(measured.map((one) => one[figure]))
  report.add({ what: 'console: first load, compressed', unit: 'KB', figure: of('bytes') / 1000, bar: { atMost: 150 } })
  report.add({
    what: 'console: address entered → can be typed in',
    unit: 'ms',
    figure: of('interactive'),
    bar: { atMost: 1000 },
  })
  report.add({
    what: 'console: key entered → the overview’s figures',
    unit: 'ms',
    figure: of('overview'),
    bar: { atMost: 1000 },
  })
}

interface Load {
  bytes: number
  interactive: number
  overview: number
}

async function load(browser: Browser, url: string): Promise<Load> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const client = await context.newCDPSession(page)
  await client.send('Network.enable')
  let bytes = 0
  client.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  const entered = performance.now()
  await page.goto(url, { waitUntil: 'commit' })
  await page.getByLabel('API key').fill(KEY)
  const interactive = performance.now() - entered
  const firstLoad = bytes

  const signedIn = performance.now()
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Cost today').waitFor()
  const overview = performance.now() - signedIn
  await context.close()
  return { bytes: firstLoad, interactive, overview }
}
