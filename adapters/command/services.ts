import { setTimeout as pause } from 'node:timers/promises'
import { agentGatewayTarget } from '../../src/agent-gateway/target.ts'
import { keyNeeded } from '../../src/chain/status.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { VERSION } from '../../src/config/version.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { createPasses, type Passes } from '../../src/identity/passes.ts'
import { missingKeys } from '../../src/inference/upstreams/upstream-configs.ts'
import { keepCode } from '../../src/kept-code.ts'
import type { Sweeps } from '../../src/store/sweeps.ts'
import { inTime } from '../../src/wire/with-timeout.ts'
import { startTracing, type Tracing } from '../http/tracing.ts'
import type { PlatformPayments } from '../platform/payments/open-payments.ts'
import { unfinishedPayments } from '../platform/payments/unfinished-payments.ts'
import { type Address, requireFree } from '../web/listen.ts'
import { createReadiness, type Readiness } from '../web/readiness.ts'
import type { Listening } from '../web/serve.ts'
import { startAlerts, startGatewaySweeps, startTakingFacts } from './background-sweeps.ts'
import { connectOffer } from './connect-offer.ts'
import { untilStopRequest } from './stop-signals.ts'

const NO_ADMIN =
  'No key has the scope admin. To create one: gazeway key create --name admin --scope inference,platform,admin ' +
  '(with the same --data and --store, if any)'

/** Time for the last writes of replies that were ended at a stop, in milliseconds. */
const LAST_WRITES_MS = 5_000

/** Services to start. */
export interface Services {
  http: boolean
  platform: boolean
}

/**
 * Runs the HTTP services until the process is stopped.
 *
 * @returns when everything is stopped and flushed, or on a timeout; the process may then exit
 * @throws GazewayError when a service cannot start; the others are stopped first
 */
export async function runServices(services: Services, loaded: LoadedConfig, log: Log): Promise<void> {
  const gateway = await createGateway(loaded, log)
  const readiness = createReadiness(gateway.store)
  const { openMetrics } = await import('../metrics/metrics.ts')
  const metrics = openMetrics(gateway, readiness)
  const running: Listening[] = []
  const passes = createPasses()
  let own: (Listening & { passes: Passes }) | null = null
  let tracing: Tracing | null = null
  let sweeps: Sweeps | null = null
  let alerting: Sweeps | null = null
  let payments: PlatformPayments | undefined
  let settling: { stop(): Promise<void> } | null = null
  let taking: { stop(): Promise<void> } | null = null
  const stopRequest = untilStopRequest()
  try {
    for (const missing of missingKeys(gateway.loaded.config)) say(missing)
    // The admin key is shown only once, so first make sure that the services can listen.
    await requireFree(addressesOf(services, gateway.loaded.config.http))
    const firstKey = await sayFirstKey(gateway)
    await gateway.journal.start()
    tracing = await startTracing(gateway, process.env, metrics)
    // The bundle has the tool server's setting in a chunk that services load, too.
    const { compileChecks } = await import('../stdio/uncompiled.ts')
    compileChecks()
    const http = services.http ? await import('../http/http.ts') : null
    const platform = services.platform ? await import('../platform/platform.ts') : null
    // An update of the package does not concern this process then.
    await keepCode()
    // Loads the tokenizer, which is large. Each metered call needs it, and a gateway alone hardly ever does.
    if (platform) await gateway.countTokens('')
    if (platform && gateway.loaded.config.mpp.enabled) payments = await startPayments(gateway)
    if (http) {
      own = { ...(await http.serveHttp(gateway, passes, readiness, metrics)), passes }
      running.push(own)
      say(`gazeway ${VERSION}: gateway on ${own.url}/v1 (upstream ${gateway.upstream.provider.name})`)
      const offer = connectOffer(firstKey, process.stderr.isTTY)
      if (offer !== null) say(offer)
    }
    if (platform) {
      const agentGateway = liveAgentGateway(gateway, own)
      settling = gateway.chain.startSettling(gateway.settled)
      for (const signed of await gateway.chain.unkeyed()) log.warn(keyNeeded(signed))
      const served = await platform.servePlatform(gateway, {
        agentGateway,
        readiness,
        metrics,
        ...(payments && { payments }),
      })
      running.push(served)
      say(`gazeway ${VERSION}: platform on ${served.url} (reference: ${served.url}/docs; /v1: ${agentGateway.url})`)
    }
    sweeps = startGatewaySweeps(gateway, payments?.sweeps ?? (platform ? [unfinishedPayments(gateway)] : []))
    alerting = startAlerts(gateway)
    taking = startTakingFacts(gateway)
    readiness.open()
    await stopRequest
    await leaveBalancers(readiness, gateway.loaded.config.http, log)
  } finally {
    // All parts stop together, so that they share one time limit for replies in progress. Requests that the platform
    // passes on to the gateway keep their connection.
    const began = performance.now()
    const stopMs = gateway.loaded.config.http.drain_ms + LAST_WRITES_MS
    await inTime(stopMs, Promise.all([...running, sweeps, alerting, settling, taking].map((part) => part?.stop())))
    if (running.length > 0) log.info('Drained.', { drained_ms: Math.round(performance.now() - began) })
    await tracing?.stop()
    await gateway.close()
  }
}

/** Creates and prints the first admin key, once. Says so where there is no key for admins. */
async function sayFirstKey({ keys, loaded: { dataDir, config } }: Gateway): Promise<string | null> {
  const firstKey = await keys.ensureFirstKey({ dataDir })
  if (firstKey) say(`Your admin key, shown only once and stored in ${dataDir}/admin.key:\n\n  ${firstKey}\n`)
  else if (config.identity.api_key === null && !(await keys.hasAdmin())) say(NO_ADMIN)
  return firstKey
}

/** The agent gateway of the settings in force: by default the gateway of this process. */
const liveAgentGateway = ({ config }: Gateway, own: (Listening & { passes: Passes }) | null) =>
  config.hotReload(
    ({ agent_gateway, http }) => ({ agent_gateway, http: { host: http.host, port: http.port } }),
    (settings) => agentGatewayTarget(settings, own),
  ).always

function addressesOf(
  { http, platform }: Services,
  { host, port, platform_port }: LoadedConfig['config']['http'],
): Address[] {
  return [
    ...(http ? [{ host, port, flag: '--port' }] : []),
    ...(platform ? [{ host, port: platform_port, flag: '--platform-port' }] : []),
  ]
}

/** Opens payments. Their code is loaded only when they are enabled. */
async function startPayments(gateway: Gateway): Promise<PlatformPayments> {
  const { openPayments } = await import('../platform/payments/open-payments.ts')
  return openPayments(gateway)
}

/**
 * Goes on serving until load balancers have noticed that this process is not ready. Where none has asked so far, none
 * can notice: Ctrl+C on a developer's machine ends without a delay.
 */
async function leaveBalancers(
  readiness: Readiness,
  { unready_ms, drain_ms }: LoadedConfig['config']['http'],
  log: Log,
): Promise<void> {
  readiness.drain()
  log.info('Draining.', { unready_ms: readiness.isWatched() ? unready_ms : 0, drain_ms })
  if (readiness.isWatched() && unready_ms > 0) {
    say(`Stopping; not ready for new clients, and serving for ${unready_ms / 1000} s.`)
    await pause(unready_ms)
  }
  say(`Stopping; replies in progress have ${drain_ms / 1000} s to finish.`)
}

const say = (text: string) => void process.stderr.write(`${text}\n`)
