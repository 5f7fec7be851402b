import { execFileSync, spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { chromium } from 'playwright-core'
import { readChange } from '../src/review/change.ts'
import { openCheckout } from '../src/review/checkout.ts'
import { createPerson, lineOf, receiptOf } from '../test/review/people.ts'
import { createRepository, numbered } from '../test/review/repository.ts'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'
import { median } from './stats.ts'

const CHROMIUM = '/usr/bin/chromium'
const TIMES = 9
const ends: (() => void)[] = []
process.once('exit', () => {
  for (const end of ends) end()
})

/** A repository whose last commit adds lines, with a policy that takes a review of Ann. */
function createReviewed(lines: number) {
  const ann = createPerson('ann@example.org')
  const repository = createRepository({ after: (end) => void ends.push(end) })
  repository.commitFiles({
    'review.json': JSON.stringify({ version: 1, allowed_signers: 'allowed_signers', level: 'seen' }),
    allowed_signers: lineOf(ann),
  })
  repository.commitFiles({ 'src/long.ts': numbered(lines).replaceAll('line ', 'export const line = ') })
  return { ...repository, ann }
}

/** Time of `gazeway review verify`, and of the page of a large change. */
export async function section(report: Report): Promise<void> {
  await measureVerify(report)
  if (existsSync(CHROMIUM)) await measurePage(report)
  else
    process.stderr.write(
      `${CHROMIUM} is missing: the page is not measured. Install it with: apt-get install chromium\n`,
    )
}

const cli = (...args: string[]) => [join(process.cwd(), 'dist/cli.js'), 'review', ...args]

async function measureVerify(report: Report): Promise<void> {
  const { root, ann } = createReviewed(2000)
  const change = await readChange(await openCheckout(root), 'HEAD^', 'HEAD')
  const now = new Date().toISOString()
  const times = { started_at: now, decided_at: now, active_ms: 600_000 }
  const { mediaType, envelope } = await receiptOf(change, ann, { review: { times } })
  const folder = temporaryFolder('reviews')
  const receipt = join(folder, 'receipt.json')
  writeFileSync(receipt, JSON.stringify({ mediaType, envelope }))
  const args = cli('verify', receipt, '--range', 'HEAD^..HEAD', '--policy', 'review.json')
  const took = Array.from({ length: TIMES + 1 }, () => {
    const start = performance.now()
    execFileSync(process.execPath, args, { cwd: root, env: { ...process.env, GAZEWAY_HOME: folder } })
    return performance.now() - start
  })
  report.add({
    what: 'gazeway review verify, 2,000 changed lines: the whole process',
    unit: 'ms',
    figure: median(took.slice(1)),
    bar: { atMost: 1000 },
  })
}

/** Run by the page, after the frame that follows its first rows: when that was, and when the change had arrived. */
const MOMENTS = `new Promise((done) => requestAnimationFrame(() => {
  const replies = performance.getEntriesByType('resource').filter(({ initiatorType }) => initiatorType === 'fetch')
  done({ drawn: performance.now(), received: replies[0].responseEnd })
}))`

/** Starts the command each time: its link works once. */
async function measurePage(report: Report): Promise<void> {
  const { root } = createReviewed(20_000)
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  const loads: { drawn: number; received: number }[] = []
  for (let i = 0; i <= TIMES; i++) {
    const env = { ...process.env, GAZEWAY_HOME: join(temporaryFolder('reviews'), 'data') }
    const child = spawn(process.execPath, cli(), { cwd: root, env, stdio: ['ignore', 'pipe', 'ignore'] })
    const url = await linkOf(child.stdout)
    const page = await browser.newPage()
    await page.goto(url, { waitUntil: 'commit' })
    await page.locator('.diff-line').first().waitFor()
    loads.push(await page.evaluate<{ drawn: number; received: number }>(MOMENTS))
    await page.close()
    child.kill()
  }
  await browser.close()
  const measured = loads.slice(1)
  const page = 'page of gazeway review, 20,000 changed lines'
  report.add({
    what: `${page}: change received → lines drawn`,
    unit: 'ms',
    figure: median(measured.map(({ drawn, received }) => drawn - received)),
  })
  report.add({
    what: `${page}: address entered → lines drawn`,
    unit: 'ms',
    figure: median(measured.map(({ drawn }) => drawn)),
    bar: { atMost: 600 },
  })
}

async function linkOf(output: Readable): Promise<string> {
  for await (const line of createInterface(output)) {
    const [link] = /http:\/\/localhost:\d+\/#\S+/.exec(line) ?? []
    if (link !== undefined) return link
  }
  throw new Error('gazeway review printed no link.')
}
