import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { NewTask } from '../../src/tasks/tasks.ts'
import { ask } from '../adapters/platform.ts'
import { type ConsoleUnderTest, drawn, startConsole, WITHOUT_BROWSER } from './browser.ts'

const WORDS =
  'Write the release notes for people who run it, and translate them into German, French and Japanese. '.repeat(2)
const TITLES = [WORDS.slice(0, 200), 'x'.repeat(200), `https://example.org/${'a/long/path/'.repeat(15)}`, 'Short']
const WIDTHS = [320, 360, 641, 700, 821, 834, 900, 1024, 1280, 1920]

describe('tables of long titles', { skip: WITHOUT_BROWSER }, () => {
  let under: ConsoleUnderTest
  before(async () => {
    under = await startConsole()
    const { tasks } = under.platform.gateway
    const capabilities = ['typescript', 'release-engineering', 'customer-communication']
    for (const title of TITLES)
      await tasks.create(NewTask.parse({ title: title.trim(), capabilities }), under.platform.keyId)
    for (const goal of [WORDS.repeat(70), 'y'.repeat(4000)])
      assert.equal((await ask(under.platform, 'POST', '/api/tasks/swarm', { body: { goal } })).status, 200)
  })
  after(async () => {
    under.assertClean()
    await under.close()
  })

  /** Lists layout faults at the current width: sideways scrolling, or a short word that is cut. */
  const faults = (page: Page) =>
    page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      const found = scrollWidth > clientWidth ? ['the page scrolls sideways'] : []
      const frame = document.querySelector('.table-frame')
      if (frame && frame.scrollWidth > frame.clientWidth) found.push('the table scrolls sideways')
      const words = document.createTreeWalker(frame ?? document.body, NodeFilter.SHOW_TEXT)
      while (words.nextNode()) {
        const node = words.currentNode
        for (const { 0: word, index } of (node.textContent ?? '').matchAll(/[^\s-]+/g)) {
          const range = document.createRange()
          range.setStart(node, index)
          range.setEnd(node, index + word.length)
          if (word.length < 20 && new Set([...range.getClientRects()].map(({ top }) => top)).size > 1)
            found.push(`${word} is cut`)
        }
      }
      const rows = [...document.querySelectorAll('.table-frame:not(.blocks) tbody tr')]
      const tallest = Math.max(0, ...rows.map((row) => row.getBoundingClientRect().height))
      return tallest > 300 ? [...found, `a row is ${tallest} px tall`] : found
    })

  for (const at of ['tasks', 'swarm'])
    it(`keep their words whole and the page in place at any width: ${at}`, async () => {
      const page = await under.open(`#/${at}`)
      await page.getByRole('table').first().waitFor()
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 })
        await drawn(page)
        assert.deepEqual(await faults(page), [], `${width} px`)
      }
      await page.setViewportSize({ width: 1920, height: 900 })
      await page.locator('.table-frame:not(.blocks)').first().waitFor()
      await page.close()
    })
})
