import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Config } from '../../src/config/schema.ts'
import { startPaidApp } from './paid-app.ts'

/** What the process is started with. */
interface Start {
  storeUrl: string
  config: Pick<Config, 'mpp' | 'wallet'>
}

/** A service behind the payment gate in a process of its own. */
export async function startPaidProcess(start: Start): Promise<{ url: string; kill(): Promise<void> }> {
  const child: ChildProcess = fork(import.meta.filename, { execArgv: ['--import', 'tsx'] })
  child.send(start)
  const [url] = (await once(child, 'message')) as [string]
  return {
    url,
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

if (process.argv[1] === import.meta.filename && process.send) {
  const [{ storeUrl, config }] = (await once(process, 'message')) as [Start]
  process.send((await startPaidApp(storeUrl, config)).url)
}
