import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'
import { gazeway, PEER, ROOT, serverMemory } from './servers.ts'
import { openInitialized, type ServerCommand, type Session } from './session.ts'
import { median } from './stats.ts'

const PROCESSES = 3
/** Idle time before the memory of a process is read. */
const IDLE_MS = 1000

/** Resident memory of an idle server: every editor window keeps one. */
export async function section(report: Report): Promise<void> {
  const folder = temporaryFolder('resident')
  const own = { idle: [] as number[], used: [] as number[] }
  const peer: number[] = []
  for (let i = 0; i < PROCESSES; i++) {
    const session = await openListed(gazeway(folder))
    own.idle.push(await residentIdle(session))
    await session.call('gateway_get_context', { root: ROOT })
    own.used.push(await residentIdle(session))
    await session.close()

    const other = await openListed(serverMemory(join(folder, 'peer.jsonl')))
    peer.push(await residentIdle(other))
    await other.close()
  }
  const against = { what: PEER, figure: median(peer) }
  report.add({ what: 'resident, idle', unit: 'MB', figure: median(own.idle), against, bar: { atMost: 60 } })
  report.add({ what: 'resident, after a work context', unit: 'MB', figure: median(own.used) })
}

async function openListed(server: ServerCommand): Promise<Session> {
  const session = await openInitialized(server)
  await session.listTools()
  return session
}

/** Megabytes (10⁶ bytes) that the process has in memory once it has been idle for a second. */
async function residentIdle({ pid }: Session): Promise<number> {
  await delay(IDLE_MS)
  const kibibytes = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
  return (kibibytes * 1024) / 1e6
}
