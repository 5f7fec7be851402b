import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Config } from '../../src/config/config-schema.ts'
import { startPaidApp } from './paid-app.ts'

/** Settings of the process. */
interface Start {
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
  const child: ChildProcess = fork(import.meta.filename, { execArgv: ['--import', 'tsx'] })
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

if (process.argv[1] === import.meta.filename && process.send) {
  const [{ storeUrl, config, ...options }] = (await once(process, 'message')) as [Start]
  process.send((await startPaidApp(storeUrl, config, options)).url)
}
