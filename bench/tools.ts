import { join } from 'node:path'
import { describeTools } from '../adapters/stdio/describe-tools.ts'
import { createTokenCounter } from '../src/text/token-counter.ts'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'
import { gazeway, PEER, serverMemory } from './servers.ts'
import { openInitialized } from './session.ts'
import { interleave } from './stats.ts'

const ROUNDS = { warmups: 20, rounds: 200 }

/** Size of the tool list in tokens, and latency of a tool that makes no request of its own. */
export async function section(report: Report): Promise<void> {
  await measureList(report)
  await measureCall(report)
}

async function measureList(report: Report): Promise<void> {
  const countTokens = createTokenCounter()
  const tools = describeTools()
  const chosenBy = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  report.add({
    what: 'tools/list: names, descriptions, inputs',
    unit: 'tokens',
    figure: await countTokens(JSON.stringify(chosenBy)),
    bar: { atMost: 3500 },
  })
  report.add({
    what: 'tools/list: all of it',
    unit: 'tokens',
    figure: await countTokens(JSON.stringify({ tools })),
    bar: { atMost: 7000 },
  })
}

/** Both servers over stdio, each with one memory. */
async function measureCall(report: Report): Promise<void> {
  const folder = temporaryFolder('tools')
  const own = await openInitialized(gazeway(folder))
  const peer = await openInitialized(serverMemory(join(folder, 'peer.jsonl')))
  await own.call('gateway_memory_store', { key: 'a', value: 'one' })
  await peer.call('create_entities', { entities: [{ name: 'a', entityType: 'memory', observations: ['one'] }] })
  const times = await interleave(
    {
      own: () => own.call('gateway_memory_recall', { key: 'a' }),
      peer: () => peer.call('open_nodes', { names: ['a'] }),
    },
    ROUNDS,
  )
  report.add({
    what: 'a local tool over stdio, there and back',
    unit: 'ms',
    figure: times.own,
    against: { what: PEER, figure: times.peer },
    bar: { times: 1 },
  })
  await Promise.all([own.close(), peer.close()])
}
