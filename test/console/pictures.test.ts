import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { type ConsoleUnderTest, drawn, startConsole, WITHOUT_BROWSER } from './browser.ts'
import { seedCalls } from './seed.ts'

/** `npm run pictures` writes the pictures of README.md. */
const { GAZEWAY_WRITE_PICTURES: WRITE } = process.env
const SIZE = { width: 1280, height: 800 }

describe('the picture of the console in README.md', { skip: WITHOUT_BROWSER }, () => {
  let console: ConsoleUnderTest

  before(async () => {
    console = await startConsole()
    await seedCalls(console.platform)
  })
  after(() => console.close())

  for (const colorScheme of ['light', 'dark'] as const)
    it(`is of the overview, ${colorScheme}, and shows what is there`, async () => {
      const file = `docs/images/console-${colorScheme}.png`
      const page = await console.open('#/overview')
      await page.setViewportSize(SIZE)
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      for (const name of ['Traffic', 'Cost by model today']) await page.getByRole('region', { name }).waitFor()
      await page.getByRole('region', { name: 'Traffic' }).locator('canvas').first().waitFor()
      await drawn(page)
      if (WRITE) writeFileSync(file, await page.screenshot())
      await page.close()
      const picture = readFileSync(file)
      // The header of PNG has its width and height.
      assert.deepEqual([picture.readUInt32BE(16), picture.readUInt32BE(20)], [SIZE.width, SIZE.height], file)
    })
})
