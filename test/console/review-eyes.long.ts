import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { numbered } from '../review/repository.ts'
import { WITHOUT_BROWSER } from './browser.ts'
import { type FullBrowser, startFullBrowser } from './full-browser.ts'
import { createReviewed, startReview } from './review-command.ts'

const FACES = fileURLToPath(new URL('../../node_modules/@vladmandic/human/assets/samples.jpg', import.meta.url))
const CAMERA = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']

/** Shows the browser's camera a picture of a face. */
async function showFace(page: Page): Promise<void> {
  await page.addInitScript((picture) => {
    const canvas = document.createElement('canvas')
    canvas.width = 640
    canvas.height = 480
    const bytes = Uint8Array.from(atob(picture), (char) => char.charCodeAt(0))
    createImageBitmap(new Blob([bytes]), 0, 0, 300, 225).then((face) =>
      setInterval(() => canvas.getContext('2d')?.drawImage(face, 0, 0, 640, 480), 100),
    )
    navigator.mediaDevices.getUserMedia = async () => canvas.captureStream(10)
  }, readFileSync(FACES).toString('base64'))
}

/** Repeats `review-eyes.test.ts` with the library itself in place of a double: it takes seconds for an image here. */
describe('eyes on the page of gazeway review, found by the library of the console', { skip: WITHOUT_BROWSER }, () => {
  let browser: FullBrowser
  before(async () => {
    browser = await startFullBrowser(CAMERA)
  })
  after(() => browser.close())

  it('are found in images, on this page and from this machine alone', async (t) => {
    const { place } = createReviewed(t, { 'a.txt': numbered(3) })
    const { url } = await startReview(t, place)
    const { page, faults } = await browser.openTab(t)
    await showFace(page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(url)
    await page.getByRole('button', { name: 'Follow my eyes' }).click()
    await page.getByRole('button', { name: 'Use the webcam' }).click()
    await page.getByRole('button', { name: 'Start calibration' }).click({ timeout: 120_000 })
    await page.getByText('Look at the point: 2 of 9').first().waitFor({ timeout: 120_000 })
    assert.equal(asked.filter((address) => address.includes('/assets/human/models/')).length, 8)
    assert.ok(asked.every((address) => new URL(address).origin === new URL(url).origin))
    assert.deepEqual(faults, [])
  })

  it('are not found where there is no face', async (t) => {
    const { place } = createReviewed(t, { 'a.txt': numbered(3) })
    const { url } = await startReview(t, place)
    const { page } = await browser.openTab(t)
    await page.goto(url)
    await page.getByRole('button', { name: 'Follow my eyes' }).click()
    await page.getByRole('button', { name: 'Use the webcam' }).click()
    await page.getByRole('button', { name: 'Start calibration' }).click({ timeout: 120_000 })
    await page.getByText('No face detected').first().waitFor({ timeout: 120_000 })
  })
})
