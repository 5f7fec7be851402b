import { closeSync, fsyncSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createMemory } from '../src/memory/memory.ts'
import { temporaryFolder } from './folder.ts'
import { measureHybrid } from './hybrid.ts'
import {
  createMemories,
  dataFolder,
  openData,
  QUERIES,
  seedData,
  seededMemories,
  spread,
  type TextMemory,
} from './memories.ts'
import type { Report } from './report.ts'
import { gazeway, PEER, serverMemory } from './servers.ts'
import { openInitialized } from './session.ts'
import { interleave } from './stats.ts'
import { wordAt } from './vocabulary.ts'

const FEW = 1_000
const SOME = 10_000
const COMPARED = 50_000
const MANY = 100_000
const FLAT = { warmups: 20, rounds: 200 }
const AGAINST_PEER = { warmups: 2, rounds: 15 }

/** Storing, recalling and searching memories: as their number grows, and against the peer, which keeps a JSON file. */
export async function section(report: Report): Promise<void> {
  const folder = temporaryFolder('memory')
  await seedData(folder, [FEW, SOME, COMPARED, MANY])
  const memories = seededMemories(MANY)
  await measureGrowth(report, folder, memories)
  await measureWrites(report, folder, memories.slice(0, COMPARED))
  await measureSearches(report, folder, memories)
  await measureHybrid(report, dataFolder(folder, MANY), memories)
}

/** The service itself, on three stores in turn. */
async function measureGrowth(report: Report, folder: string, memories: readonly TextMemory[]): Promise<void> {
  const open = async (size: number) => {
    const store = await openData(dataFolder(folder, size))
    return { size, store, memory: createMemory({ store, now: () => new Date() }), fresh: createMemories(2) }
  }
  const [few, some, many] = [await open(FEW), await open(SOME), await open(MANY)]
  type Stored = typeof few
  const measure = async (verb: string, run: (stored: Stored, turn: number) => unknown) => {
    const times = await interleave(
      { few: (turn) => run(few, turn), some: (turn) => run(some, turn), many: (turn) => run(many, turn) },
      FLAT,
    )
    const against = { what: `at ${shown(few.size)}`, figure: times.few }
    report.add({ what: `${verb}, ${shown(SOME)} memories`, unit: 'ms', figure: times.some, against })
    report.add({
      what: `${verb}, ${shown(MANY)} memories`,
      unit: 'ms',
      figure: times.many,
      against,
      bar: { times: 1.5 },
    })
  }
  await measure('store', ({ memory, fresh }) => memory.store(fresh()))
  await measure('recall', ({ memory, size }, turn) => memory.recall(spread(memories, turn, size)))
  for (const { store } of [few, some, many]) await store.close()
}

/** Both servers over stdio, each call on a memory of its own. */
async function measureWrites(report: Report, folder: string, memories: readonly TextMemory[]): Promise<void> {
  const own = await openInitialized(gazeway(dataFolder(folder, COMPARED)))
  const peer = await openInitialized(serverMemory(peerFile(folder, memories)))
  const file = openSync(join(folder, 'page'), 'w')
  const fresh = createMemories(3)
  const times = await interleave(
    {
      store: () => own.call('gateway_memory_store', fresh()),
      peerWrite: () => peer.call('create_entities', { entities: [entityOf(fresh())] }),
      recall: (turn) => own.call('gateway_memory_recall', { key: spread(memories, turn).key }),
      peerRead: (turn) => peer.call('open_nodes', { names: [spread(memories, turn).key] }),
      disk: () => writeThrough(file),
    },
    AGAINST_PEER,
  )
  closeSync(file)
  await Promise.all([own.close(), peer.close()])
  const where = `over stdio, ${shown(COMPARED)} memories`
  const write = { what: `${PEER}, write`, figure: times.peerWrite }
  const read = { what: `${PEER}, read`, figure: times.peerRead }
  const bar = { times: 0.05 }
  report.add({ what: `store ${where}`, unit: 'ms', figure: times.store, against: write, bar })
  report.add({ what: `recall ${where}`, unit: 'ms', figure: times.recall, against: write, bar })
  report.add({ what: `recall ${where}`, unit: 'ms', figure: times.recall, against: read })
  report.add({ what: 'the disk: a page written and fsynced (a store waits for one)', unit: 'ms', figure: times.disk })
}

/** Writes one page of a file and waits until the disk has it. */
function writeThrough(file: number): void {
  writeSync(file, Buffer.alloc(4096), 0, 4096, 0)
  fsyncSync(file)
}

const SEARCH = `search over stdio, ${shown(MANY)} memories`

async function measureSearches(report: Report, folder: string, memories: readonly TextMemory[]): Promise<void> {
  const own = await openInitialized(gazeway(dataFolder(folder, MANY)))
  const peer = await openInitialized(serverMemory(peerFile(folder, memories)))
  for (const [kind, queryFrom] of Object.entries(QUERIES)) {
    const query = (turn: number) => queryFrom(spread(memories, turn).value.split(' '))
    const times = await interleave(
      {
        own: (turn) => own.call('gateway_memory_search', { query: query(turn) }),
        peer: (turn) => peer.call('search_nodes', { query: query(turn) }),
      },
      AGAINST_PEER,
    )
    report.add({
      what: `${SEARCH}: ${kind}`,
      unit: 'ms',
      figure: times.own,
      against: { what: PEER, figure: times.peer },
      bar: { atMost: 5, times: 0.1 },
    })
  }
  const frequent = await interleave(
    { own: (turn) => own.call('gateway_memory_search', { query: wordAt(turn) }) },
    AGAINST_PEER,
  )
  report.add({ what: `${SEARCH}: a frequent word`, unit: 'ms', figure: frequent.own, bar: { atMost: 5 } })
  await Promise.all([own.close(), peer.close()])
}

/** A file of the peer's that holds the same memories. */
function peerFile(folder: string, memories: readonly TextMemory[]): string {
  const file = join(folder, `peer-${memories.length}.jsonl`)
  writeFileSync(file, memories.map((memory) => JSON.stringify({ type: 'entity', ...entityOf(memory) })).join('\n'))
  return file
}

function entityOf({ key, value, tags }: TextMemory) {
  return { name: key, entityType: tags[0] ?? 'note', observations: [value] }
}

function shown(count: number): string {
  return count.toLocaleString('en')
}
