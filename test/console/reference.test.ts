import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { ask } from '../adapters/platform.ts'
import { axeFaults, type ConsoleUnderTest, drawn, press, startConsole, WITHOUT_BROWSER } from './browser.ts'

describe('the reference of the API', { skip: WITHOUT_BROWSER }, () => {
  let under: ConsoleUnderTest
  before(async () => {
    under = await startConsole()
  })
  after(async () => {
    under.assertClean()
    await under.close()
  })

  /** The reference, signed in unless the key is null. */
  async function open(at: string, key: string | null = under.platform.admin): Promise<Page> {
    const page = await under.open(`docs${at}`, { key: null, width: 1440 })
    if (key === null) return page
    await page.getByRole('button', { name: 'Sign in' }).first().click()
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    return page
  }

  it('has no fault of accessibility and fits, at 390 and 1,440 pixels, in light and dark', async () => {
    for (const at of ['', '#createTask', '#gateway/createMessage']) {
      const page = await open(at, null)
      await page.locator('main h1').waitFor()
      for (const width of [390, 1440])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 900 })
          await page.emulateMedia({ colorScheme })
          await drawn(page)
          assert.deepEqual(await axeFaults(page), [], `${at} ${width} ${colorScheme}`)
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          assert.ok(over <= 0, `${at} is ${over} px too wide at ${width} px`)
        }
      await page.close()
    }
  })

  it('finds an operation by words, and shows its fields, an example, curl and TypeScript', async () => {
    const page = await open('', null)
    await page.locator('main h1').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('rotateKey post')
    const link = page.getByRole('navigation', { name: 'Operations' }).getByRole('link')
    assert.equal(await link.count(), 1)
    await press(link)
    await page.getByText('grace_seconds', { exact: true }).waitFor()
    assert.match(page.url(), /#rotateKey$/)
    const command = await page.getByRole('region', { name: 'the command' }).textContent()
    assert.match(
      command ?? '',
      /^curl 'http:\/\/127\.0\.0\.1:\d+\/api\/keys\/key_0+\d+\/rotate' \\\n {2}-H "Authorization/,
    )
    await page.getByRole('tab', { name: 'TypeScript' }).click()
    const code = await page.getByRole('region', { name: 'the code' }).textContent()
    assert.ok(code?.includes("method: 'POST'") && code.includes('"grace_seconds": 3600'), code ?? '')
    const reply = await page.getByRole('region', { name: 'the example of a reply' }).textContent()
    assert.ok(JSON.parse(reply ?? '').key.startsWith('gzw_0000'))
    await page.close()
  })

  it('sends what reads at once, and what changes something after a confirmation', async () => {
    const page = await open('#listTasks')
    await page.getByRole('button', { name: 'Send GET' }).click()
    const answer = page.getByRole('region', { name: 'the reply' })
    assert.equal(JSON.parse((await answer.textContent()) ?? '').total, 0)

    await page.goto(`${under.platform.url}/docs#createTask`)
    await page.getByRole('button', { name: 'Send POST' }).click()
    const tasks = async () => {
      const reply = await ask(under.platform, 'GET', '/api/tasks', { key: under.platform.admin })
      return ((await reply.json()) as { total: number }).total
    }
    const dialog = page.getByRole('dialog')
    await dialog.getByText('with your key').waitFor()
    assert.equal(await tasks(), 0)
    await press(dialog.getByRole('button', { name: 'Send POST' }))
    await answer.waitFor()
    assert.equal(await tasks(), 1)
    await page.close()
  })

  it('describes the gateway too, sends model calls, and shows the key’s recent ones', async () => {
    const page = await open('', under.platform.key)
    await page.getByRole('tab', { name: 'Gateway' }).click()
    await page.getByRole('heading', { name: /^Gazeway gateway/ }).waitFor()
    await page.goto(`${under.platform.url}/docs#gateway/createChatCompletion`)
    await page.getByText('You have made none yet.').waitFor()
    await page.getByRole('textbox', { name: 'Body' }).fill('{"messages": [{"role": "user", "content": "Hello"}]}')
    await page.getByRole('button', { name: 'Send POST' }).click()
    await press(page.getByRole('dialog').getByRole('button', { name: 'Send POST' }))
    await page.getByRole('region', { name: 'the reply' }).getByText('chat.completion').waitFor()
    await page.locator('.ref-calls li').first().waitFor()
    const command = await page.getByRole('region', { name: 'the command' }).textContent()
    assert.ok(command?.includes(`:${new URL(under.platform.gatewayUrl).port}/v1/chat/completions`), command ?? '')
    await page.close()
  })

  it('asks for nothing of it in the console’s first load', async () => {
    const page = await under.open('', { key: null })
    const names = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))
    assert.ok(names.length > 0 && !names.some((name) => /docs-|reference/.test(name)), names.join(' '))
    await page.close()
  })
})
