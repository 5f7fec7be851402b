import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { callTool } from '../../adapters/stdio/call-tool.ts'
import type { Answer } from '../../src/research/research.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const FILES = {
  'README.md': '# Parcels\n\nTracks parcels of a shop from its door to the door of the customer.\n',
  'src/track.ts':
    '/** Follows a parcel from depot to depot. */\nexport function trackParcel(parcel: Parcel) {\n  return depots(parcel)\n}\n',
  'src/depot.ts': 'export function openDepot(address: string) {\n  return { address, shelves: [] }\n}\n',
  'src/logger.ts': 'export const logger = console\n',
  'migrations/001.sql': 'create table parcels (id int);\n',
}

describe('what goes upstream with a question', () => {
  let upstream: double.UpstreamDouble
  let running: RunningGateway
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'gazeway-sent-')))
  before(async () => {
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    upstream = await double.startUpstream()
    upstream.on('/responses', double.json(200, double.response('The answer.')))
    running = await startGateway(upstream.url)
  })
  after(async () => {
    await running.close()
    await upstream.close()
    rmSync(root, { recursive: true })
  })

  async function call<T>(name: string, args: object): Promise<T> {
    const context = {
      surface: 'stdio' as const,
      callerId: null,
      roots: async () => [root],
      projectRoot: async () => root,
    }
    const result = await callTool(
      name,
      args,
      async () => running.gateway,
      context,
      (fault) => assert.fail(String(fault)),
    )
    assert.notEqual(result.isError, true, JSON.stringify(result.content))
    return result.structuredContent as T
  }
  const ask = async (query: string, more = {}) => {
    const answer = await call<Answer>('gateway_llm_query', { query, ...more })
    const { body } = upstream.received.filter(({ path }) => path === '/v1/responses').at(-1) ?? {}
    return { answer, input: (body as { input: string }).input }
  }

  it('are the files that have to do with it, which the answer lists with their tokens', async () => {
    const { answer, input } = await ask('How is a parcel tracked from depot to depot?')
    const [first] = answer.context_used
    assert.deepEqual([first?.kind, first?.name], ['file', 'src/track.ts'])
    assert.match(input, /trackParcel/)
    for (const path of ['logger.ts', '001.sql']) assert.ok(!input.includes(path), `${path} was sent`)
    const sum = answer.context_used.reduce((total, { tokens }) => total + tokens, 0)
    assert.ok(sum > 0 && sum <= answer.context_tokens, `${sum} of ${answer.context_tokens}`)
    assert.match(
      input,
      new RegExp(answer.context_used.map(({ name }) => name.slice(name.lastIndexOf('/') + 1)).join('|')),
    )
  })

  it('is the question alone where nothing has to do with it', async () => {
    const question = 'What changed in PostgreSQL 18 for logical replication?'
    const { answer, input } = await ask(question)
    assert.equal(input, question)
    assert.deepEqual([answer.context_used, answer.context_tokens], [[], 0])
  })

  it('is the question alone where it has no word to look for', async () => {
    const { answer, input } = await ask('Why?')
    assert.equal(input, 'Why?')
    assert.deepEqual(answer.context_used, [])
  })

  it('names the memories that went along, too', async () => {
    await call('gateway_memory_store', { key: 'carrier', value: 'The zeppelin carries all parcels of the shop.' })
    const { answer, input } = await ask('What does the zeppelin carry?')
    assert.deepEqual(
      answer.context_used.map(({ kind, name }) => [kind, name]),
      [['memory', 'carrier']],
    )
    assert.match(input, /carries all parcels/)
    const { answer: without } = await ask('What does the zeppelin carry?', { include_context: false })
    assert.deepEqual(without.context_used, [])
  })

  it('stays within 4,000 tokens for questions of any length', async () => {
    for (let i = 0; i < 60; i++)
      writeFileSync(join(root, `src/parcel${i}.ts`), `export const parcel${i} = depot()\n`.repeat(200))
    const { answer } = await ask('The parcel and the depot. '.repeat(200))
    assert.ok(answer.context_used.length > 5, 'many files have to do with it')
    assert.ok(answer.context_tokens <= 4000, `${answer.context_tokens} tokens`)
  })
})
