import { join } from 'node:path'
import { storeAttention } from './attention.ts'
import { temporaryFolder } from './folder.ts'
import { dataFolder, seedData } from './memories.ts'
import { createProject, type Project } from './project.ts'
import type { Report } from './report.ts'
import { gazeway } from './servers.ts'
import { openInitialized } from './session.ts'
import { interleave, median } from './stats.ts'

const FILES = 5_000
const MEMORIES = 1_000
const RECORDS = 100_000
const PROCESSES = 7
const LATER = { warmups: 3, rounds: 20 }

/** The work context of a large project with a long history of attention. */
export async function section(report: Report): Promise<void> {
  const folder = temporaryFolder('context')
  const project = createProject(join(folder, 'project'), FILES)
  await seedData(folder, [MEMORIES])
  const data = dataFolder(folder, MEMORIES)
  await storeAttention(data, project, RECORDS)

  const first: number[] = []
  for (let i = 0; i < PROCESSES; i++) first.push(await firstCall(data, project))
  const what = `work context, ${FILES.toLocaleString('en')} files, ${RECORDS.toLocaleString('en')} gaze records`
  report.add({ what: `${what}: first call of a process`, unit: 'ms', figure: median(first), bar: { atMost: 300 } })

  const session = await openInitialized({ ...gazeway(data), cwd: project.root })
  const get = (args: Record<string, unknown>) => session.call('gateway_get_context', args)
  const later = await interleave(
    { plain: () => get({}), query: () => get({ query: 'how does the payment client retry' }) },
    LATER,
  )
  await session.close()
  report.add({ what: `${what}: later calls`, unit: 'ms', figure: later.plain, bar: { atMost: 60 } })
  report.add({ what: `${what}: later calls with a query`, unit: 'ms', figure: later.query })
}

/** Milliseconds that a new process takes for its first work context. */
async function firstCall(data: string, { root }: Project): Promise<number> {
  const session = await openInitialized({ ...gazeway(data), cwd: root })
  const start = performance.now()
  await session.call('gateway_get_context', {})
  const elapsed = performance.now() - start
  await session.close()
  return elapsed
}
