import { join } from 'node:path'
import { CallFilter } from '../src/calls/call-list.ts'
import { createCalls } from '../src/calls/calls.ts'
import { createMemory, MemoryInput, MemoryList, MemorySearch } from '../src/memory/memory.ts'
import { openStore } from '../src/store/open-store.ts'
import type { Store } from '../src/store/store.ts'
import { startPostgres } from '../test/contract/postgres-server.ts'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'
import { seedStore } from './seeded-store.ts'
import { interleave, quantile } from './stats.ts'

const SOME = 10_000
const MANY = 1_000_000
const ALONE = { callers: 1, seconds: 3 }
const CROWD = { callers: 64, seconds: 5 }
const READS = { warmups: 30, rounds: 300 }

/** Both engines: durable writes, alone and in a crowd, empty and full; lists and recall as the records grow. */
export async function section(report: Report): Promise<void> {
  const folder = temporaryFolder('store')
  await measureEngine(report, 'SQLite', (name) => openStore(`sqlite:${join(folder, `${name}.db`)}`))
  const server = await startPostgres({ durable: true })
  process.once('exit', () => void server.stop())
  await measureEngine(report, 'PostgreSQL', async () => openStore(`${await server.database()}?statement_timeout=0`))
  await server.remove()
}

async function measureEngine(report: Report, engine: string, open: (name: string) => Promise<Store>): Promise<void> {
  const empty = await open('empty')
  await measureWrites(report, `${engine}, empty`, empty)
  await empty.close()
  const [some, many] = [await open('some'), await open('many')]
  await seedStore(some, SOME)
  await seedStore(many, MANY)
  await measureReads(report, engine, some, many)
  await measureWrites(report, `${engine}, ${MANY} records`, many)
  await some.close()
  await many.close()
}

/** Memories stored one by one, each durable before the next of its caller. */
async function measureWrites(report: Report, where: string, store: Store): Promise<void> {
  const memory = createMemory({ store, now: () => new Date() })
  for (const { callers, seconds } of [ALONE, CROWD]) {
    const times: number[] = []
    const started = performance.now()
    const until = started + seconds * 1000
    const write = async (caller: number) => {
      for (let i = 0; performance.now() < until; i++) {
        const from = performance.now()
        await memory.store(MemoryInput.parse({ key: `fresh/${callers}/${caller}/${i}`, value: 'deploys on Fridays' }))
        times.push(performance.now() - from)
      }
    }
    await Promise.all(Array.from({ length: callers }, (_, caller) => write(caller)))
    const perSecond = (times.length * 1000) / (performance.now() - started)
    const what = `durable write, ${where}, ${callers === 1 ? '1 caller' : `${callers} callers`}`
    report.add({ what, unit: 'writes/s', figure: perSecond })
    report.add({ what: `${what}: p50`, unit: 'ms', figure: quantile(times, 0.5) })
    report.add({ what: `${what}: p99`, unit: 'ms', figure: quantile(times, 0.99) })
  }
}

async function measureReads(report: Report, engine: string, some: Store, many: Store): Promise<void> {
  const open = (store: Store, size: number) => ({
    size,
    memory: createMemory({ store, now: () => new Date() }),
    calls: createCalls({ store, onError: (error) => Promise.reject(error) }),
  })
  type Opened = ReturnType<typeof open>
  const reads: Record<string, (opened: Opened, turn: number) => Promise<unknown>> = {
    recall: ({ memory, size }, turn) =>
      memory.recall({ key: `seed/${1 + ((turn * 7919) % size)}`, namespace: 'default' }),
    'list of memories': ({ memory }) => memory.recent(MemoryList.parse({})),
    'list of memories with a tag': ({ memory }, turn) => memory.recent(MemoryList.parse({ tag: `tag${turn % 8}` })),
    'list of calls': ({ calls }) => calls.history(CallFilter.parse({})),
    'list of calls of a caller': ({ calls }, turn) =>
      calls.history(CallFilter.parse({ caller_id: `key_${turn % 50}` })),
  }
  const [few, all] = [open(some, SOME), open(many, MANY)]
  for (const [what, read] of Object.entries(reads)) {
    const times = await interleave({ few: (turn) => read(few, turn), all: (turn) => read(all, turn) }, READS)
    const against = { what: `at ${SOME}`, figure: times.few }
    report.add({
      what: `${what}, ${engine}, ${MANY} records`,
      unit: 'ms',
      figure: times.all,
      against,
      bar: { times: 1.5 },
    })
  }
  const { all: found } = await interleave(
    {
      all: (turn) => all.memory.search(MemorySearch.parse({ query: `w${(turn * 31) % 5000} w${(turn * 17) % 5000}` })),
    },
    { warmups: 5, rounds: 40 },
  )
  report.add({ what: `search for two words, ${engine}, ${MANY} records`, unit: 'ms', figure: found })
}
