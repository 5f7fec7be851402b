import { execFileSync } from 'node:child_process'
import * as nodeModule from 'node:module'
import { join } from 'node:path'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'
import { gazeway, PEER, serverMemory } from './servers.ts'
import { openSession, type ServerCommand } from './session.ts'
import { median } from './stats.ts'

const STARTS = 20
const WARMUPS = 2

/** From the start of the process to the answers that a client waits for before it can be used. */
export async function section(report: Report): Promise<void> {
  const folder = temporaryFolder('start')
  const servers = [gazeway(folder), serverMemory(join(folder, 'peer.jsonl'))] as const
  const { own, peer, bare } = await interleavedStarts(servers)
  const rows = [
    ['process start → initialize answered', 'initialized'],
    ['process start → tools/list answered', 'listed'],
  ] as const
  for (const [what, moment] of rows)
    report.add({
      what,
      unit: 'ms',
      figure: median(own.map((start) => start[moment])),
      against: { what: PEER, figure: median(peer.map((start) => start[moment])) },
      bar: { times: 0.55 },
    })
  // Node 22.8 and later: the first starts have filled the cache, which lies in the data folder.
  if ('enableCompileCache' in nodeModule)
    report.add({
      what: 'process start → tools/list answered, with Node’s compile cache',
      unit: 'ms',
      figure: median(own.map(({ listed }) => listed)),
      against: { what: 'node -e 0', figure: median(bare) },
      bar: { times: 1.6 },
    })
}

/** Milliseconds that this Node takes to start and end. */
function bareStart(): number {
  const start = performance.now()
  execFileSync(process.execPath, ['-e', '0'])
  return performance.now() - start
}

interface Start {
  initialized: number
  listed: number
}

async function interleavedStarts([own, peer]: readonly [ServerCommand, ServerCommand]) {
  const starts = { own: [] as Start[], peer: [] as Start[], bare: [] as number[] }
  for (let i = 0; i < WARMUPS + STARTS; i++) {
    const round = { own: await timedStart(own), peer: await timedStart(peer), bare: bareStart() }
    if (i < WARMUPS) continue
    starts.own.push(round.own)
    starts.peer.push(round.peer)
    starts.bare.push(round.bare)
  }
  return starts
}

/** Milliseconds from the start of the process. */
async function timedStart(server: ServerCommand): Promise<Start> {
  const start = performance.now()
  const session = await openSession(server)
  await session.initialize()
  const initialized = performance.now() - start
  await session.listTools()
  const listed = performance.now() - start
  await session.close()
  return { initialized, listed }
}
