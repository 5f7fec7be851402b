import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { conversationOf } from '../agents/conversation.ts'
import { PROVIDERS, type ProviderName } from '../agents/providers.ts'
import { BEGUN, done, PARCELS, PICTURE, ROUTES } from '../agents/script.ts'
import { modelOf, type Steered } from '../agents/steered.ts'
import { callFor, type Door, type Sdk, toolsIn } from './sdk.ts'

/** A red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'

/** Works five turns through one conversation of an SDK. @returns refusals by the provider, each of which was mended */
export async function workThrough(sdk: Sdk, door: Door, steered: Steered, name: ProviderName): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-'))
  try {
    writeFileSync(join(folder, PARCELS), 'Parcel 9 is in Riga.\n')
    writeFileSync(join(folder, ROUTES), 'Route 3 goes to Bergen.\n')
    writeFileSync(join(folder, PICTURE), Buffer.from(PNG, 'base64'))
    steered.begin({ callFor }, folder)
    const tools = toolsIn(folder)
    const { ask, compact } = sdk(door, modelOf(name), tools)
    const task = async (task: string, picture?: string) =>
      assert.equal(await ask({ text: `Do task:${task} now.`, ...(picture && { picture }) }), done(task))
    const last = () => conversationOf(steered.upstream.received.at(-1)?.body as Record<string, unknown>)

    await task('reading')
    const results = last().filter(({ role }) => role === 'result')
    const read = results.map(({ text }) => text).join('\n')
    assert.ok(read.includes('Riga') && read.includes('Bergen'), `the results of both calls arrived: ${read}`)

    await task('looking', tools.look(PICTURE))
    const hasImage = last().some((said) => said.hasImage)
    assert.equal(hasImage, PROVIDERS[name].seesImages, 'the image arrived where the model sees images')

    const hanging = steered.hanging()
    const said = await ask({ text: 'Do task:leaving now.', leaves: true })
    assert.ok(said !== '' && BEGUN.startsWith(said), said)
    await (await hanging).aborted

    await task('returning')
    await compact()
    await task('remembering')
    const remembered = last()
    assert.ok(
      remembered.some(({ text }) => text.includes('moved to Genoa')),
      'the summary arrived',
    )
    return steered.refusals()
  } finally {
    rmSync(folder, { recursive: true })
  }
}
