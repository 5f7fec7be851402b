import { setTimeout as delay } from 'node:timers/promises'
import { createThread, threadCode } from '../src/wire/thread.ts'
import type { Running } from './http-process.ts'

const PROBE = threadCode({ source: new URL('./waits-probe.ts', import.meta.url), name: 'waits-probe' })

/** Asks a server for `/health` again and again while it works. @returns how long each request waited, in milliseconds */
export async function waitsDuring(server: Running, work: () => Promise<unknown>): Promise<number[]> {
  const probe = createThread<string | null, number[]>(PROBE, () => null)
  await probe.ask(`http://127.0.0.1:${server.port}/health`)
  await delay(200)
  await work()
  const waits = await probe.ask(null)
  await probe.close()
  return waits
}
