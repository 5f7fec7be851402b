import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { openReceipt } from '../../src/review/receipt.ts'
import { until } from '../doubles/until.ts'
import { run } from '../e2e/server.ts'
import { numbered } from '../review/repository.ts'
import { axeFaults, WITHOUT_BROWSER } from './browser.ts'
import { type FullBrowser, startFullBrowser } from './full-browser.ts'
import { createReviewed, decide, startReview } from './review-command.ts'

const CAMERA = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']

declare global {
  interface Window {
    /** Place that the person in front of the camera looks at, as shares of the window; null where there is nobody. */
    lookedAt: { x: number; y: number } | null
  }
}

/** A face in 478 points, of which those of the eyes turn to the point of a calibration, or else to `lookedAt`. */
const LIBRARY = `
export default class {
  async load() {}
  async detect() {
    if (window.lookedAt === null) return { face: [], error: null }
    const point = document.querySelector('.calibration-point')?.style
    const { x, y } = point ? { x: parseFloat(point.left) / 100, y: parseFloat(point.top) / 100 } : window.lookedAt
    const meshRaw = Array.from({ length: 478 }, () => [0.5, 0.5, 0])
    for (const [outer, inner, iris, left] of [[33, 133, 473, 0.35], [263, 362, 468, 0.55]]) {
      meshRaw[outer] = [left, 0.4, 0]
      meshRaw[inner] = [left + 0.1, 0.4, 0]
      meshRaw[iris] = [left + 0.03 + 0.04 * x, 0.38 + 0.04 * y, 0]
    }
    const face = { meshRaw, boxRaw: [0.28, 0.2, 0.45, 0.6], faceScore: 0.9, rotation: { angle: { yaw: x / 9, pitch: y / 9 } } }
    return { face: [face], error: null }
  }
}`

/** Puts a double of the library that finds faces into a page: the model itself takes a second for an image here. */
async function seatPerson(page: Page, isThere = true): Promise<void> {
  await page.addInitScript((there) => {
    window.lookedAt = there ? { x: 0.5, y: 0.5 } : null
  }, isThere)
  await page.route('**/assets/human/dist/human.esm.js', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: LIBRARY }),
  )
}

/** Collects the records of gaze that a page sends. */
function watchGaze(page: Page): GazeTensor[] {
  const records: GazeTensor[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/evidence'))
      records.push(
        ...request
          .postDataJSON()
          .records.filter(({ source }: GazeTensor) => ['webcam', 'eye_tracker'].includes(source)),
      )
  })
  return records
}

/** Finds where a line is, as shares of the window. */
async function placeOf(page: Page, line: number): Promise<{ x: number; y: number }> {
  const box = await page.getByText(`line ${line}`, { exact: true }).boundingBox()
  assert.ok(box)
  return page.evaluate(({ x, y }) => ({ x: x / innerWidth, y: y / innerHeight }), {
    x: box.x + 200,
    y: box.y + box.height / 2,
  })
}

const names = ({ env: { path, line_start = 0, line_end = 0 } }: GazeTensor, line: number): boolean =>
  path === 'a.txt' && line_start <= line && line <= line_end

describe('eyes on the page of gazeway review', { skip: WITHOUT_BROWSER }, () => {
  let browser: FullBrowser
  before(async () => {
    browser = await startFullBrowser(CAMERA)
  })
  after(() => browser.close())

  it('are followed by the webcam of a person who agrees, and are evidence of the lines that they rest on', async (t) => {
    const { place, key } = createReviewed(t, { 'a.txt': numbered(30) })
    const out = join(place.home, 'receipt.json')
    const { url, ended } = await startReview(t, place, ['--reviewer', 'ann@example.org', '--sign', key, '--out', out])
    const { page, faults } = await browser.openTab(t)
    await seatPerson(page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const records = watchGaze(page)
    await page.goto(url)
    await page.getByText('line 30', { exact: true }).waitFor()
    const button = page.getByRole('button', { name: 'Follow my eyes' })
    assert.equal(await button.getAttribute('aria-pressed'), 'false')
    await button.press('Enter')
    await page.getByText('They are neither stored nor sent').waitFor()
    assert.deepEqual(await axeFaults(page), [])
    assert.ok(!asked.some((address) => address.includes('/assets/human/')), 'nothing is loaded before someone agrees')
    await page.getByRole('button', { name: 'Use the webcam' }).press('Enter')
    await page.getByRole('button', { name: 'Start calibration' }).click({ timeout: 90_000 })
    await page.getByText(/^Your eyes are followed, to about \d+ lines\.$/).waitFor({ timeout: 120_000 })
    assert.deepEqual(await axeFaults(page), [])
    assert.deepEqual(records, [])
    for (const line of [4, 28, 4]) {
      const at = await placeOf(page, line)
      await page.evaluate((there) => {
        window.lookedAt = there
      }, at)
      const before = records.length
      await until(() => records.slice(before).some((record) => names(record, line)), { seconds: 60 })
    }
    assert.ok(
      records.every(({ source, confidence, emo, cog }) => source === 'webcam' && confidence && !emo && !cog),
      JSON.stringify(records[0]),
    )
    assert.ok(!records.some((record) => names(record, 4) && names(record, 28)), 'a part of the window at a time')
    await page.getByRole('button', { name: 'Turn off' }).click()
    assert.equal(await button.getAttribute('aria-pressed'), 'false')
    assert.equal(await page.locator('video').count(), 0)
    await page.getByText('30 of 30 lines read').waitFor()
    await decide(page, 'Approve')
    const { code, printed } = await ended
    assert.equal(code, 0, printed)
    const { review } = openReceipt(JSON.parse(readFileSync(out, 'utf8')), 'receipt')
    assert.deepEqual(
      review.evidence.reasons.filter((reason) => /no line of the change/.test(reason)),
      [],
    )
    const verdict = await run(place, ['review', 'verify', out, '--range', 'HEAD^..HEAD'])
    assert.deepEqual([verdict.code, verdict.stdout], [0, 'Passed: 1 hunk, read by ann@example.org.\n'])
    assert.deepEqual(faults, [])
  })

  it('need a face, and a camera that the browser allows', async (t) => {
    const { place } = createReviewed(t, { 'a.txt': numbered(3) })
    const { url } = await startReview(t, place)
    const { page } = await browser.openTab(t)
    await seatPerson(page, false)
    const records = watchGaze(page)
    await page.goto(url)
    const button = page.getByRole('button', { name: 'Follow my eyes' })
    await button.click()
    await page.getByRole('button', { name: 'Use the webcam' }).click()
    await page.getByRole('button', { name: 'Start calibration' }).click({ timeout: 90_000 })
    await page.getByText('No face detected').first().waitFor({ timeout: 60_000 })
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Turn off' }).click()
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
    })
    await button.click()
    await page.getByRole('button', { name: 'Use the webcam' }).click()
    await page.getByText('The camera is blocked. Allow it in the address bar and retry, or go on without it.').waitFor()
    await page.getByText('3 of 3 lines read').waitFor()
    assert.deepEqual(records, [])
  })

  it('are followed by positions that the program of a tracker sends, which opens nothing else', async (t) => {
    const { place } = createReviewed(t, { 'a.txt': numbered(30) })
    const out = join(place.home, 'receipt.json')
    const { url, ended } = await startReview(t, place, ['--reviewer', 'ann@example.org', '--out', out])
    const { page, faults } = await browser.openTab(t)
    const records = watchGaze(page)
    await page.goto(url)
    await page.getByText('line 30', { exact: true }).waitFor()
    const { origin } = new URL(url)
    const send = async (token: string, positions: object[], path = '/api/positions') => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      return (await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify({ positions }) })).status
    }
    await page.getByRole('button', { name: 'Follow my eyes' }).click()
    await page.getByRole('button', { name: 'Use an eye tracker' }).click()
    const address = page.locator('.review-eyes pre')
    await address.waitFor()
    const [, token = ''] = /Bearer ([\w-]+)/.exec((await address.textContent()) ?? '') ?? []
    assert.deepEqual(await axeFaults(page), [])
    assert.equal(await send(`${token}x`, []), 401)
    for (const path of ['/api/tracker', '/api/reviews/rev_1/decision']) assert.equal(await send(token, [], path), 401)
    assert.equal(await send(token, [{ x: 'left', y: 0 }]), 422)
    await page.evaluate(() => {
      addEventListener('pointermove', ({ screenX, screenY, clientX, clientY }) => {
        window.lookedAt = { x: screenX - clientX, y: screenY - clientY }
      })
    })
    await page.mouse.move(600, 500)
    const elsewhere = { x: -5, y: -5 }
    assert.equal(await send(token, [elsewhere]), 204)
    await page.getByText(/^Your eyes are followed: \d+ positions so far\.$/).waitFor()
    const line = 7
    const { x, y } = await placeOf(page, line)
    const onScreen = await page.evaluate(
      (share) => {
        const offset = window.lookedAt ?? { x: 0, y: 0 }
        return {
          x: (share.x * innerWidth + offset.x) / screen.width,
          y: (share.y * innerHeight + offset.y) / screen.height,
        }
      },
      { x, y },
    )
    await until(
      async () => {
        const now = Date.now()
        const rest = Array.from({ length: 20 }, (_, at) => ({ at: now + 10 * at, ...onScreen }))
        assert.equal(await send(token, [...rest, { ...elsewhere, at: now + 200 }]), 204)
        return records.length > 0
      },
      { seconds: 60 },
    )
    for (const record of records) {
      assert.equal(record.source, 'eye_tracker')
      assert.ok(names(record, line) && !names(record, line + 5), JSON.stringify(record))
    }
    await page.getByRole('button', { name: 'Turn off' }).click()
    await until(async () => (await send(token, [elsewhere])) === 401, { seconds: 60 })
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.getByRole('button', { name: 'Follow my eyes' }).click()
    await page.getByRole('button', { name: 'Use an eye tracker' }).click()
    await until(() => asked.some((one) => one.includes('/api/positions?after=')), { seconds: 60 })
    const [first = ''] = asked.filter((one) => one.includes('/api/positions?after='))
    assert.ok(Number(new URL(first).searchParams.get('after')) > 0, 'positions of before are not asked for')
    await page.getByText('Waiting for positions of your tracker.').waitFor()
    await page.getByRole('button', { name: 'Turn off' }).click()
    await until(async () => (await send(token, [elsewhere])) === 401, { seconds: 60 })
    await decide(page, 'Approve')
    assert.equal((await ended).code, 0)
    assert.deepEqual(faults, [])
  })
})
