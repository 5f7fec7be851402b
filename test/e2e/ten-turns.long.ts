import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { AGENTS, type Agent } from '../soak/agents/agents.ts'
import type { ProviderName } from '../soak/agents/providers.ts'
import { done, PARCELS, ROUTES } from '../soak/agents/script.ts'
import { startSession } from '../soak/agents/session.ts'
import { modelOf, type Steered, startSteered, upstreamsAt } from '../soak/agents/steered.ts'
import { CLAUDE } from './claude.ts'
import { CODEX } from './codex.ts'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'
import { newPlace } from './server.ts'

/** Providers over which the agents died at the first turns: a template of one system message, and reasoning that is wanted back. */
const DEADLY: readonly ProviderName[] = ['Qwen template', 'DeepSeek']

const PROGRAMS: [name: string, program: readonly [string, ...string[]], agent: Agent][] = [
  ['Claude Code', CLAUDE, AGENTS['Claude Code']],
  ...(CODEX === '' ? [] : ([['Codex', [CODEX], AGENTS.Codex]] as [string, [string], Agent][])),
]

// Whole sessions over all providers are in `npm run test:soak`.
describe('A task of ten turns', () => {
  let steered: Steered
  let gateway: GatewayProcess
  before(async () => {
    steered = await startSteered()
    const place = newPlace()
    mkdirSync(place.data, { mode: 0o700 })
    writeFileSync(join(place.data, 'config.json'), JSON.stringify({ upstreams: upstreamsAt(steered) }), { mode: 0o600 })
    gateway = await startGatewayProcess(place, { args: ['--upstream', steered.upstream.url] })
  })
  after(async () => {
    await gateway?.stop()
    await steered?.upstream.close()
  })

  for (const [name, program, agent] of PROGRAMS)
    for (const provider of DEADLY)
      it(`is finished by ${name} over ${provider}`, async () => {
        const place = newPlace()
        const file = join(place.project, PARCELS)
        writeFileSync(file, 'Parcel 9 is in Riga.\n')
        writeFileSync(join(place.project, ROUTES), 'Route 3 goes to Bergen.\n')
        steered.begin(agent, place.project)
        const { ask } = startSession(program, agent, gateway, place, modelOf(provider))
        const { code, said } = await ask('Do task:editing now.').end
        assert.equal(code, 0, said)
        assert.ok(said.includes(done('editing')), said)
        assert.equal(readFileSync(file, 'utf8'), 'Parcel 9 is in Genoa.\n')
        const answered = steered.upstream.received.length - steered.refusals().length
        assert.ok(answered >= 10, `${answered} turns`)
      })
})
