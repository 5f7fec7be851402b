import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { axeFaults, type ConsoleUnderTest, startConsole, WITHOUT_BROWSER } from './browser.ts'

const FACES = fileURLToPath(new URL('../../node_modules/@vladmandic/human/assets/samples.jpg', import.meta.url))

describe('the camera of the page Capture', { skip: WITHOUT_BROWSER }, () => {
  let gazeway: ConsoleUnderTest
  let folder: string

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gazeway-faces-'))
    const video = join(folder, 'face.mjpeg')
    gazeway = await startConsole('sandbox', { camera: video })
    writeFileSync(video, await faceAsVideo(gazeway.browser))
  })
  after(async () => {
    await gazeway.close()
    rmSync(folder, { recursive: true })
  })

  it('asks before the camera is opened, loads the model from this Gazeway alone, and sees a face', async () => {
    const page = await gazeway.openApart('#/capture', { permissions: ['camera'] })
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.getByRole('button', { name: 'Use webcam' }).click()
    await page.getByText('They are neither stored nor sent').waitFor()
    assert.deepEqual(await axeFaults(page), [])
    await page.getByRole('button', { name: 'Not now' }).click()
    assert.deepEqual(
      asked.filter((url) => /human/.test(url) && !url.includes('/api/')),
      [],
      'nothing is loaded before someone agrees',
    )
    await page.getByRole('button', { name: 'Use webcam' }).click()
    await page.getByRole('button', { name: 'Agree and start the camera' }).click()
    await page.getByText('Face detected').waitFor({ timeout: 60_000 })
    const models = asked.filter((url) => url.includes('/assets/human/models/'))
    assert.equal(models.length, 8, models.join(' '))
    assert.deepEqual(await axeFaults(page), [])
    await page.getByRole('button', { name: 'Calibrate' }).click()
    await page.getByText('Nine points appear').waitFor()
    assert.deepEqual(await axeFaults(page), [])
    await page.getByRole('button', { name: 'Start calibration' }).click()
    await page.getByText('Look at the point: 1 of 9').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Turn off' }).click()
    await page.getByText('Optional. The webcam follows your eyes').waitFor()
  })

  it('says what to do when the camera is refused', async () => {
    const page = await gazeway.open('#/capture')
    await page.getByRole('button', { name: 'Use webcam' }).click()
    await page.getByRole('button', { name: 'Agree and start the camera' }).click()
    await page.getByText('The camera is blocked. Allow it in the address bar').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Start recording' }).isEnabled(), true)
  })

  it('makes no request to another host, and violates no content security policy', () => gazeway.assertClean())
})

/** One of the faces that the gaze library ships, as a video for Chromium's fake camera. */
async function faceAsVideo(browser: Browser): Promise<Buffer> {
  const page = await browser.newPage()
  const picture = `data:image/jpeg;base64,${readFileSync(FACES).toString('base64')}`
  const frame = await page.evaluate(async (source) => {
    const image = new Image()
    image.src = source
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = 640
    canvas.height = 480
    // The first of the pictures in it.
    canvas.getContext('2d')?.drawImage(image, 0, 0, 300, 225, 0, 0, 640, 480)
    return canvas.toDataURL('image/jpeg', 0.95)
  }, picture)
  await page.close()
  const jpeg = Buffer.from(frame.split(',')[1] ?? '', 'base64')
  return Buffer.concat(Array.from({ length: 10 }, () => jpeg))
}
