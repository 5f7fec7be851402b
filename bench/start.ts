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
  const [own, peer] = await interleavedStarts(servers)
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
}

interface Start {
  initialized: number
  listed: number
}

async function interleavedStarts([own, peer]: readonly [ServerCommand, ServerCommand]): Promise<[Start[], Start[]]> {
  const starts: [Start[], Start[]] = [[], []]
  for (let i = 0; i < WARMUPS + STARTS; i++) {
    const pair = [await timedStart(own), await timedStart(peer)] as const
    if (i < WARMUPS) continue
    starts[0].push(pair[0])
    starts[1].push(pair[1])
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
