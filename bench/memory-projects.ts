import { join } from 'node:path'
import { createMemory, MemorySearch } from '../src/memory/memory.ts'
import { openStore } from '../src/store/open-store.ts'
import type { Store } from '../src/store/store.ts'
import { startPostgres } from '../test/contract/postgres-server.ts'
import { temporaryFolder } from './folder.ts'
import { QUERIES, seededMemories, spread, storeTogether } from './memories.ts'
import type { Report } from './report.ts'
import { interleave } from './stats.ts'
import { wordAt } from './vocabulary.ts'

const MEMORIES = 100_000
const PROJECTS = 200
/** Every so many memories, one is of no project: all projects find it. */
const SHARED = 100
const TOGETHER = 1_000
const ROUNDS = { warmups: 10, rounds: 60 }

/** Searches of one project among many, on both engines. */
export async function section(report: Report): Promise<void> {
  const folder = temporaryFolder('projects')
  await measureEngine(report, 'SQLite', await openStore(`sqlite:${join(folder, 'store.db')}`))
  const server = await startPostgres()
  process.once('exit', () => void server.stop())
  await measureEngine(report, 'PostgreSQL', await openStore(`${await server.database()}?statement_timeout=0`))
  await server.remove()
}

async function measureEngine(report: Report, engine: string, store: Store): Promise<void> {
  const memories = seededMemories(MEMORIES).map((memory, i) => ({ ...memory, project: projectOf(i) }))
  for (let from = 0; from < MEMORIES; from += TOGETHER)
    await storeTogether(store, memories.slice(from, from + TOGETHER))
  const service = createMemory({ store, now: () => new Date() })
  const wordsOf = (turn: number) => spread(memories, turn).value.split(' ')
  const projectAt = (turn: number) => spread(memories, turn).project ?? projectOf(1)
  const search = (turn: number, query: string) =>
    service.search(MemorySearch.parse({ query, project: projectAt(turn), limit: 3 }))
  const tasks = Object.fromEntries(
    Object.entries(QUERIES).map(([kind, queryFrom]) => [
      kind,
      (turn: number) => search(turn, queryFrom(wordsOf(turn))),
    ]),
  )
  const times = await interleave(
    {
      ...tasks,
      'a frequent word': (turn: number) => search(turn, wordAt(turn % 10)),
      'the newest, as for a work context': (turn: number) => service.newest({ project: projectAt(turn), limit: 5 }),
    },
    ROUNDS,
  )
  const what = `memories of a project, ${MEMORIES.toLocaleString('en')} memories in ${PROJECTS} projects, ${engine}`
  for (const [kind, figure] of Object.entries(times))
    report.add({ what: `${what}: ${kind}`, unit: 'ms', figure, bar: { atMost: 5 } })
  await store.close()
}

const projectOf = (i: number): string | null => (i % SHARED === 0 ? null : `/projects/${i % PROJECTS}`)
