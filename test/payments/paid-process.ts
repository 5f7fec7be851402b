import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../src/config/config-schema.ts'
import { bundledProgram } from '../doubles/bundled-program.ts'

/** Settings of the process. */
export interface Start {
  storeUrl: string
  config: Pick<Config, 'mpp' | 'wallet'>
  /** Lease of the process after its last heartbeat; 60 s by default. */
  leaseMs?: number
}

/** A process that serves. */
interface PaidProcess {
  url: string
  kill(): Promise<void>
  /** Stops it in the middle of what it does, as a machine that goes to sleep, and has it go on. */
  suspend(): void
  resume(): void
}

/** A service behind the payment gate in a process of its own. */
export async function startPaidProcess(start: Start): Promise<PaidProcess> {
  const program = bundledProgram(fileURLToPath(new URL('paid-server.ts', import.meta.url)))
  const child: ChildProcess = fork(program, { execArgv: [] })
  child.send(start)
  const [url] = (await once(child, 'message')) as [string]
  return {
    url,
    suspend: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
