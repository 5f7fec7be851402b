import type { LoadedConfig } from '../src/config/config.ts'
import { redactUrl } from '../src/config/redact.ts'
import { GazewayError } from '../src/errors.ts'
import { createGateway, type Gateway } from '../src/gateway.ts'
import type { Log } from '../src/log.ts'

/** One thing that is checked: what it found, or an error that says what to do. */
interface Check {
  name: string
  run(gateway: Gateway): Promise<string>
}

const CHECKS: readonly Check[] = [
  {
    name: 'store',
    async run({ memory, loaded, store }) {
      const { count } = await memory.stats()
      return `${store.engine}, ${count} memories, ${redactUrl(loaded.storeUrl)}`
    },
  },
  {
    name: 'upstream',
    async run({ upstream }) {
      upstream.provider.requireKey()
      const context = { surface: 'stdio' as const, callerId: null, signal: AbortSignal.timeout(10_000) }
      const { status } = await upstream.passThrough({ method: 'GET', path: '/models' }, context)
      if (status < 400) return `${upstream.provider.name} answers at ${upstream.provider.baseUrl}`
      const advice = status === 401 || status === 403 ? 'check its key' : 'check its address (upstream.provider)'
      throw new GazewayError('upstream_error', `${upstream.provider.name} answered ${status}: ${advice}.`)
    },
  },
]

/**
 * Checks what Gazeway stands on and prints a line for each, with what to do where one fails.
 *
 * @returns whether all is well
 */
export async function runDoctor(loaded: LoadedConfig, log: Log): Promise<boolean> {
  const say = (ok: boolean, name: string, found: string) =>
    process.stdout.write(`${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(13)}  ${found}\n`)
  say(true, 'configuration', loaded.dataDir)
  let gateway: Gateway
  try {
    gateway = await createGateway(loaded, log)
  } catch (error) {
    say(false, 'store', reason(error))
    return false
  }
  let healthy = true
  for (const check of CHECKS) {
    try {
      say(true, check.name, await check.run(gateway))
    } catch (error) {
      healthy = false
      say(false, check.name, reason(error))
    }
  }
  await gateway.close()
  return healthy
}

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error))
