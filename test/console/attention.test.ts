import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ask } from '../adapters/platform.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { axeFaults, type ConsoleUnderTest, inspect, signIn, startConsole, WITHOUT_BROWSER } from './browser.ts'
import { startInBetween } from './in-between.ts'
import { readWithPointer } from './reading.ts'

const TEXT = [
  'A ledger has accounts, and transfers between them.',
  'A transfer has entries that sum to zero, so that money is neither made nor lost.',
  'Once it is written, a transfer never changes; what was wrong is put right by another one.',
  'A hold sets an amount aside before a call, and a capture takes what the call has cost.',
  'When the call fails, the hold is voided, and nobody is charged for an answer that never came.',
].join('\n\n')

describe('the pages Attention and Capture', { skip: WITHOUT_BROWSER }, () => {
  let gazeway: ConsoleUnderTest
  before(async () => {
    gazeway = await startConsole()
  })
  after(() => gazeway.close())

  it('attests a person who reads along with the pointer, and binds it to the task', async () => {
    const { platform } = gazeway
    const made = await ask(platform, 'POST', '/api/tasks', {
      body: { title: 'Read this', description: TEXT, gaze_required: true },
    })
    const { id } = (await made.json()) as { id: string }
    const page = await gazeway.openApart('#/attention', { key: platform.key })
    await page.clock.install()
    await page.getByText('No gaze sessions yet').waitFor()
    await page.getByRole('link', { name: 'Record a session' }).first().click()
    await page.getByText('What a recording holds').first().waitFor()
    assert.deepEqual(await axeFaults(page), [])
    await page.goto(`${platform.url}/#/capture?task=${id}`)
    await page.getByRole('list', { name: 'Text: Read this' }).waitFor()
    await page.getByRole('button', { name: 'Start recording' }).click()
    await page.getByText('Recording: 0 records so far.').waitFor()
    await readWithPointer(page, 60)
    await page.getByRole('button', { name: 'Stop recording' }).click()
    await page.getByText('passed', { exact: true }).waitFor()
    await inspect(page, 'capture-done')

    const reply = await ask(platform, 'GET', `/api/attestation/status?task_id=${id}`)
    const attestation = (await reply.json()) as { id: string; status: string; session_id: string; reasons: string[] }
    assert.deepEqual([attestation.status, attestation.reasons], ['passed', []])
    assert.match(String(await page.getByRole('main').textContent()), new RegExp(attestation.id))
    const history = await ask(platform, 'GET', `/api/gaze/history?session_id=${attestation.session_id}`)
    const { items } = (await history.json()) as {
      items: { source: string; env: { line_start?: number; url: string } }[]
    }
    assert.ok(items.length >= 20, `${items.length} records`)
    assert.ok(
      items.some(({ env }) => env.line_start === 1 && env.url.endsWith(`#/tasks/${id}`)),
      'the line and the task that was read are named',
    )
    await page.getByRole('link', { name: 'View the session' }).click()
    await page.getByRole('region', { name: 'Places over time, as a heat map' }).waitFor()
  })

  it('shows a session as a heat map, as lines, as figures with a narrative, and its attestation', async () => {
    const { platform } = gazeway
    const records = humanStream(7, { records: 400, start: new Date(Date.now() - 150_000).toISOString() })
    const body = { session_id: 'reading-code', records }
    await ask(platform, 'POST', '/api/gaze/store', { body })
    const page = await gazeway.open('#/attention')
    await page.getByRole('table', { name: 'Gaze sessions' }).getByText('passed').first().waitFor()
    await inspect(page, 'attention')
    await page.getByLabel('Task').fill('task_of_nobody')
    await page.getByText('No session matches').waitFor()
    await page.reload()
    await page.getByText('No session matches').waitFor()
    assert.equal(await page.getByLabel('Task').inputValue(), 'task_of_nobody', 'the filter is in the address')
    await page.goto(`${platform.url}/#/attention/reading-code`)
    await page.getByText(/400 records/).waitFor()
    assert.match(String(await page.getByRole('table').textContent()), /src\/a\.ts : \d+–\d+/)
    await inspect(page, 'attention-heat')

    await page.getByRole('tab', { name: 'Heat map' }).press('ArrowRight')
    await page.getByText('Channels over time as a table').waitFor()
    await page.locator('.uplot').waitFor()
    await inspect(page, 'attention-lines')

    await page.getByRole('tab', { name: 'Analysis' }).click()
    await page.getByText('Fixations').waitFor()
    await page.getByLabel('Question').fill('Where was I?')
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.getByText('Written by the call').waitFor()
    assert.match(String(await page.locator('.narrative').textContent()), /sandbox/)
    await inspect(page, 'attention-analysis')

    await page.getByRole('tab', { name: 'Attestation' }).click()
    await page.getByRole('progressbar', { name: 'Plausibility' }).waitFor()
    assert.deepEqual(await axeFaults(page), [])
    await page.goto(`${platform.url}/#/attention/nobody`)
    await page.getByText('This session has no records').waitFor()
  })

  it('loses nothing of a recording when a reply breaks off, and keeps it in one session', async (t) => {
    const { platform, browser } = gazeway
    const between = await startInBetween(platform.url)
    t.after(() => between.close())
    const { key } = await platform.gateway.keys.create({ name: 'reader', scopes: ['platform'] })
    const page = await browser.newPage()
    await page.goto(`${between.url}/#/capture`)
    await signIn(page, key)
    await page.clock.install()
    await page.getByRole('button', { name: 'Start recording' }).click()
    const spoiling = between.spoil('/api/gaze/store', 'cut')
    await readWithPointer(page, 24)
    await spoiling.begun
    spoiling.end()
    await page.getByRole('button', { name: 'Stop recording' }).click()
    await page.getByRole('link', { name: 'View the session' }).waitFor()
    const said = String(await page.getByText(/^Stopped after/).textContent())
    const reply = await ask(platform, 'GET', '/api/gaze/history?limit=1000', { key })
    const { items } = (await reply.json()) as { items: { session_id: string }[] }
    assert.equal(new Set(items.map(({ session_id }) => session_id)).size, 1)
    assert.equal(said, `Stopped after ${items.length} records.`)
    await page.close()
  })

  it('makes no request to another host, and violates no content security policy', () => gazeway.assertClean())
})
