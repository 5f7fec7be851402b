import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { NewTask } from '../../src/tasks/tasks.ts'
import { newId } from '../../src/text/ids.ts'
import { ask } from '../adapters/platform.ts'
import { type ConsoleUnderTest, drawn, startConsole, WITHOUT_BROWSER } from './browser.ts'
import { seedCalls } from './seed.ts'

/** Names by people, agents and providers: markup, letters from right to left that turn what follows, and no place to break. */
const NAMES = [
  '<img src=x onerror="globalThis.fired=1">',
  '"><svg onload=globalThis.fired=1><a href="javascript:globalThis.fired=1">',
  '\u202Eمرحبا\u202D \u2067بالعالم',
  '{{constructor.constructor("globalThis.fired=1")()}}${globalThis.fired=1}',
  'n'.repeat(480),
]
const WIDTHS = [390, 1440]
/** Longest name of a key or group. */
const KEY_NAME = 100

describe('hostile names on every page', { skip: WITHOUT_BROWSER }, () => {
  let under: ConsoleUnderTest
  /** Addresses of the lists and the records that have the names. */
  let pages: string[]
  before(async () => {
    under = await startConsole()
    const { platform } = under
    const { gateway, admin, keyId } = platform
    const [call] = await seedCalls(platform)
    assert.ok(call)
    const post = async (path: string, body: object, key = admin) => {
      const reply = await ask(platform, 'POST', path, { key, body })
      assert.ok(reply.ok, `${path}: ${await reply.clone().text()}`)
      return (await reply.json()) as Record<string, string>
    }
    const records = await Promise.all(
      NAMES.map(async (name, at) => {
        const short = name.slice(0, KEY_NAME)
        const group = await gateway.groups.create({ name: short, budgets: [{ usd: 1, per: 'day' }] })
        const { record, key } = await gateway.keys.create({
          name: short,
          scopes: ['inference', 'platform'],
          group: group.id,
        })
        const session = name.slice(0, 128)
        const hostile: CallRecord = {
          ...call,
          ...{ call_id: newId('call'), at: new Date().toISOString(), caller_id: record.id, session_id: session },
          ...{
            requested_model: name,
            model: name.slice(0, 256),
            status: at % 2 ? 'error' : 'ok',
            error: at % 2 ? name : null,
          },
          ...{
            client: short,
            client_version: short,
            changed: [name],
            tags: [name.slice(0, 64)],
            path: '/v1/chat/completions',
          },
          ...{ upstream: short, content: { request: { messages: [{ role: 'user', content: name }] }, answer: name } },
        }
        gateway.calls.record(hostile)
        await gateway.calls.flush()
        const facts = {
          repository: `https://example.org/${encodeURIComponent(name).slice(0, 200)}`,
          branch: name.slice(0, 255),
        }
        await ask(platform, 'POST', `/api/coding-sessions/${encodeURIComponent(session)}/facts`, { key, body: facts })
        await post('/api/memory', {
          key: name,
          value: name.repeat(9),
          tags: [name.slice(0, 64)],
          namespace: name.slice(0, 128),
        })
        const asked = NewTask.parse({ title: name.slice(0, 200), description: name, reward_usd: 0.01 })
        const task = await gateway.tasks.create(asked, keyId)
        await post(`/api/tasks/${task.id}/claim`, { agent: name.slice(0, 64) })
        const swarm = await post('/api/tasks/swarm', { goal: `- ${name}\n- ${name}` })
        const chat = await post('/api/sessions', { title: name.slice(0, 200) })
        const encoded = encodeURIComponent(name)
        return [
          `keys/${record.id}`,
          `keys/${group.id}`,
          `calls/${hostile.call_id}`,
          `calls?model=${encoded}`,
          `sessions/${encodeURIComponent(session)}?key=${record.id}`,
          `sessions?branch=${encodeURIComponent(facts.branch)}`,
          `memory/${encoded}?in=${encodeURIComponent(name.slice(0, 128))}`,
          `memory?words=${encoded}`,
          `tasks/${task.id}`,
          `swarm/${swarm.swarm_id}`,
          `escrow/${task.escrow_id}`,
          `calls?session=${chat.id}`,
        ]
      }),
    )
    const lists = [
      'overview',
      'sessions',
      'calls',
      'burn',
      'usage',
      'escrow',
      'tasks',
      'swarm',
      'memory',
      'keys',
      'keys/groups',
    ]
    pages = [...lists, 'wallet/callers', 'wallet/ledger', ...records.flat()]
  })
  after(async () => {
    under.assertClean()
    await under.close()
  })

  /** Faults of a page: what a name did, elements that it made, and what does not fit. */
  const faultsOf = (page: Page) =>
    page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      const made = document.querySelectorAll('img[src="x"], svg[onload], a[href^="javascript:"], script:not([src])')
      return [
        ...('fired' in globalThis ? ['a name was run'] : []),
        ...[...made].map(({ outerHTML }) => `made ${outerHTML}`),
        ...(scrollWidth > clientWidth ? [`${scrollWidth - clientWidth} px too wide`] : []),
      ]
    })

  it('are text alone, and fit, on a phone and a laptop', async () => {
    const page = await under.open('#/overview', { key: under.platform.admin })
    page.on('dialog', (dialog) => assert.fail(`a dialog opened: ${dialog.message()}`))
    const found: string[] = []
    for (const at of pages) {
      await page.goto(`${under.platform.url}/#/${at}`)
      await page.locator('main h1').first().waitFor()
      await page.waitForFunction(() => document.querySelector('main .loading') === null)
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 })
        await drawn(page)
        found.push(...(await faultsOf(page)).map((fault) => `${at.slice(0, 60)} at ${width}: ${fault}`))
      }
    }
    assert.deepEqual(found, [])
    await page.close()
  })

  it('lead from the palette to their page, whole', async () => {
    const page = await under.open('#/overview', { key: under.platform.admin })
    await page.locator('main h1').waitFor()
    for (const name of NAMES) {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill(name)
      const option = page.getByRole('option').filter({ hasText: 'Memories' }).first()
      await option.waitFor()
      assert.equal(await option.locator('.palette-label').textContent(), name)
      await page.keyboard.press('Escape')
      // A key that is pressed while it closes does not open it again.
      await page.getByRole('combobox').waitFor({ state: 'hidden' })
    }
    assert.deepEqual(await faultsOf(page), [])
    await page.close()
  })

  it('do not turn the text beside them: each is isolated in its own direction', async () => {
    const page = await under.open('#/keys', { key: under.platform.admin, width: 1440 })
    const name = page.getByRole('table', { name: 'Keys' }).getByRole('link').filter({ hasText: 'بالعالم' }).first()
    await name.waitFor()
    assert.equal(await name.evaluate((one) => getComputedStyle(one).unicodeBidi), 'plaintext')
    await page.close()
  })
})
