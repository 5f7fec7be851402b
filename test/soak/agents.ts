import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type GatewayProcess, startGatewayProcess } from '../e2e/gateway-process.ts'
import { newPlace, type Place } from '../e2e/server.ts'
import { AGENTS, type Agent } from './agents/agents.ts'
import { conversationOf } from './agents/conversation.ts'
import { PROVIDERS, type Provider, type ProviderName } from './agents/providers.ts'
import { done, PARCELS, PICTURE, ROUTES } from './agents/script.ts'
import { startSession } from './agents/session.ts'
import { modelOf, type Steered, startSteered, upstreamsAt } from './agents/steered.ts'
import { type Outcome, writeTable } from './agents/table.ts'

/**
 * Sessions of real agents over doubles of providers that steer them: parallel reads, an image from disk, ten turns of
 * editing, an interruption, what follows it, and a compaction.
 *
 * GAZEWAY_TEST_AGENTS: folder with `node_modules`, into which the agents were installed.
 * GAZEWAY_TEST_SESSION: part of the name of the sessions to run, such as `Codex Ollama`.
 */
const { GAZEWAY_TEST_AGENTS: folder = '', GAZEWAY_TEST_SESSION: only = '', GAZEWAY_WRITE_PAGES: writes } = process.env
const PATIENCE_MS = 600_000
/** A red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'

const programOf = ({ command }: Agent) => join(folder, 'node_modules/.bin', command)
const results = new Map<string, Outcome>()
let steered: Steered
let gateway: GatewayProcess

before(async () => {
  steered = await startSteered()
  const { url } = steered.upstream
  const place = newPlace()
  mkdirSync(place.data, { mode: 0o700 })
  writeFileSync(join(place.data, 'config.json'), JSON.stringify({ upstreams: upstreamsAt(steered) }), { mode: 0o600 })
  gateway = await startGatewayProcess(place, { args: ['--upstream', url] })
})
after(async () => {
  await gateway?.stop()
  await steered?.upstream.close()
  if (writes === '1') writeTable(results, programOf)
})

for (const [agentName, agent] of Object.entries(AGENTS) as [string, Agent][]) {
  const isInstalled = folder !== '' && existsSync(programOf(agent))
  const skip = isInstalled ? false : `${agentName} is not installed in the folder GAZEWAY_TEST_AGENTS`
  describe(`${agentName}, which asks by ${agent.asks}`, { skip }, () => {
    for (const [name, provider] of Object.entries(PROVIDERS)) {
      const session = `${agentName} ${name}`
      if (!session.includes(only)) continue
      it(`works through a session over ${name}`, { timeout: PATIENCE_MS }, async (t) => {
        results.set(session, 'fails')
        const refusals = await workThrough(agent, name as ProviderName, provider)
        t.diagnostic(`${refusals.length} requests were refused and mended`)
        results.set(session, 'works')
      })
    }
  })
}

/** Has an agent do all tasks in one session. @returns refusals by the provider, each of which was mended */
async function workThrough(agent: Agent, name: ProviderName, provider: Provider): Promise<string[]> {
  const place = newPlace()
  const file = join(place.project, PARCELS)
  writeFileSync(file, 'Parcel 9 is in Riga.\n')
  writeFileSync(join(place.project, ROUTES), 'Route 3 goes to Bergen.\n')
  writeFileSync(join(place.project, PICTURE), Buffer.from(PNG, 'base64'))
  steered.begin(agent, place.project)
  const { ask, task, last } = begin(agent, place, modelOf(name))

  await task('reading')
  const results = last().filter(({ role }) => role === 'result')
  const read = results.map(({ text }) => text).join('\n')
  assert.ok(read.includes('Riga') && read.includes('Bergen'), `the results of both calls arrived: ${read}`)

  await task('looking')
  const hasImage = last().some((said) => said.hasImage)
  assert.equal(hasImage, provider.seesImages, 'the image arrived where the model sees images')

  await task('editing')
  assert.equal(readFileSync(file, 'utf8'), 'Parcel 9 is in Genoa.\n')

  const hanging = steered.hanging()
  const left = ask('Do task:leaving now.')
  const begun = await Promise.race([hanging, left.end])
  assert.ok('aborted' in begun, JSON.stringify(begun))
  left.interrupt()
  await left.end
  await begun.aborted

  await task('returning')
  if (agent.compact !== null) {
    const { code, said } = await ask(agent.compact).end
    assert.equal(code, 0, said)
  }
  await task('remembering')
  assert.ok(
    last().some(({ text }) => text.includes('moved to Genoa')),
    'the conversation was compacted',
  )
  return steered.refusals()
}

function begin(agent: Agent, place: Place, model: string) {
  const { ask } = startSession([programOf(agent)], agent, gateway, place, model)
  return {
    ask,
    async task(task: string): Promise<void> {
      const { code, said } = await ask(`Do task:${task} now.`).end
      assert.equal(code, 0, said)
      assert.ok(said.includes(done(task)), `${task}: ${said.slice(-2000)}`)
    },
    /** The conversation of the last request. */
    last: () => conversationOf(steered.upstream.received.at(-1)?.body as Record<string, unknown>),
  }
}
