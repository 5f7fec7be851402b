import { agentGatewayTarget } from '../src/agent-gateway/target.ts'
import type { LoadedConfig } from '../src/config/config.ts'
import { createGateway } from '../src/gateway.ts'
import { createPasses, type Passes } from '../src/identity/passes.ts'
import type { Log } from '../src/log.ts'
import { VERSION } from '../src/version.ts'
import type { Tracing } from './http/tracing.ts'
import type { Listening } from './web/serve.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Which of the long-running services to start. */
export interface Services {
  http: boolean
  platform: boolean
}

/**
 * Runs the HTTP services in this process until it is told to stop.
 *
 * @returns when everything is stopped and flushed; the process may then exit
 * @throws GazewayError when one of them cannot start; the others are stopped then
 */
export async function runServices(services: Services, loaded: LoadedConfig, log: Log): Promise<void> {
  const gateway = await createGateway(loaded, log)
  const running: Listening[] = []
  const passes = createPasses()
  let own: (Listening & { passes: Passes }) | null = null
  let tracing: Tracing | null = null
  const told = toldToStop()
  try {
    const firstKey = await gateway.keys.ensureFirstKey({ dataDir: loaded.dataDir })
    if (firstKey) say(`Your admin key, shown only now and kept in ${loaded.dataDir}/admin.key:\n\n  ${firstKey}\n`)
    if (services.http) {
      const { serveHttp } = await import('./http.ts')
      own = { ...(await serveHttp(gateway, passes)), passes }
      running.push(own)
      say(`gazeway ${VERSION}: gateway on ${own.url}/v1 (upstream ${gateway.upstream.provider.name})`)
    }
    if (services.platform) {
      if (!services.http) tracing = await (await import('./http/tracing.ts')).startTracing(gateway, process.env)
      const { servePlatform } = await import('./platform.ts')
      const agentGateway = agentGatewayTarget(loaded.config, own)
      const platform = await servePlatform(gateway, { agentGateway })
      running.push(platform)
      say(`gazeway ${VERSION}: platform on ${platform.url} (reference: ${platform.url}/docs; /v1: ${agentGateway.url})`)
    }
    await told
    say('Stopping; replies in progress have 10 s to finish.')
  } finally {
    // Together, so that the time for replies in progress is the same for all; those that come through the platform from
    // the gateway keep their connection.
    await Promise.all(running.map((service) => service.stop()))
    await tracing?.stop()
    await gateway.close()
  }
}

/** Resolves at the first signal to stop; a second one ends the process at once, as it does by itself. */
function toldToStop(): Promise<void> {
  return new Promise((resolve) => {
    function told() {
      for (const signal of SIGNALS) process.removeListener(signal, told)
      resolve()
    }
    for (const signal of SIGNALS) process.on(signal, told)
  })
}

const say = (text: string) => void process.stderr.write(`${text}\n`)
