import { type Detected, detect } from '../../src/agent-gateway/detect.ts'
import { agentGatewayTarget } from '../../src/agent-gateway/target.ts'
import { undelivered } from '../../src/alerts/alerts.ts'
import { silentAlerts } from '../../src/alerts/silent-alerts.ts'
import { checkChains } from '../../src/chain/check-chains.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import { exposedFiles } from '../../src/config/private-files.ts'
import { redactText, redactUrl } from '../../src/config/redact.ts'
import { unknownVariables } from '../../src/config/unknown-variables.ts'
import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import { refusedModels } from '../../src/inference/status/price-list.ts'
import { checkPayments } from '../../src/payments/check-payments.ts'
import { loadMethods } from '../../src/payments/methods.ts'
import { paymentSettings } from '../../src/payments/payment-settings.ts'
import { leftUnfinished } from '../../src/payments/unfinished.ts'
import { ageOfPrices } from '../../src/providers/price-age.ts'
import { loadShippedCatalogue } from '../../src/providers/shipped-catalogue.ts'
import { checkBilling } from '../../src/reconcile/reconcile.ts'
import { storeClockAhead } from '../../src/store/clock.ts'
import type { Store } from '../../src/store/store.ts'
import { toUsd } from '../../src/text/money.ts'
import { presumedInAll } from '../../src/wallet/budget/presumed-spending.ts'
import { countUnmatched, settledTimes, type Unmatched } from '../../src/wallet/receipts/missing-records.ts'
import { throughProxy } from '../../src/wire/proxy-choice.ts'
import { inTime } from '../../src/wire/with-timeout.ts'
import { checkCollector } from '../http/collector.ts'
import type { Check, Finding } from './check.ts'
import { FACTS } from './facts-checks.ts'
import { PATIENCE_MS, upstreamChecks } from './upstream-checks.ts'

/** Largest clock difference between the store and this machine, in milliseconds. */
const CLOCK_MS = 2_000

/** Checks that run before those of the upstreams. */
const STORE_CHECKS: readonly Check[] = [
  {
    name: 'store',
    settings: 'store',
    async run({ memory, loaded, store }) {
      const { count } = await memory.stats()
      await requireWritable(store)
      return `${store.engine}, memories: ${count}, ${redactUrl(loaded.storeUrl)}`
    },
  },
  {
    name: 'clock',
    async run({ store }) {
      const ahead = Math.round(await storeClockAhead(store))
      const found = `${Math.abs(ahead)} ms ${ahead < 0 ? 'behind' : 'ahead of'} this machine's`
      if (Math.abs(ahead) <= CLOCK_MS) return `the store's clock is ${found}`
      throw new GazewayError(
        'conflict',
        `The store's clock is ${found}: synchronize both with NTP. Deadlines use the clock of the store; records use the clock of the machine that writes them.`,
      )
    },
  },
  {
    name: 'ledger',
    async run({ wallet, escrows }) {
      const { transfers, archives, faults: ofLedger, head } = await wallet.verify()
      const faults = [...ofLedger, ...(await escrows.verify())]
      const sealed = archives === 0 ? '' : `; archived months: ${archives}`
      if (faults.length === 0) return `${transfers} transfers, in order; head ${head.slice(0, 16)}${sealed}`
      if (archives === null) throw new GazewayError('store_corrupt', faults.join(' '))
      throw new GazewayError(
        'store_corrupt',
        `${faults.join(' ')} Restore a backup, and find out who wrote to the store.`,
      )
    },
  },
]

const OTHER_CHECKS: readonly Check[] = [
  {
    name: 'presumed',
    async run({ store }) {
      const { micros, keys } = await presumedInAll(store)
      if (micros === 0) return 'nothing is presumed spent'
      return {
        warning:
          `${toUsd(micros)} USD of ${keys} keys are presumed spent, since a process died or sleeps: start it again on its ` +
          'data folder, run `gazeway doctor --recover` there, or release it with `gazeway key release`.',
      }
    },
  },
  {
    // After the upstream checks: it writes their call records, which fails on a full disk.
    name: 'audit trail',
    settings: 'audit',
    async run({ calls, store, loaded }, isThorough) {
      await calls.flush()
      const { totals } = await calls.stats({})
      const times = settledTimes(new Date(), loaded.config.audit.retention_days)
      return auditText(totals.calls, await countUnmatched(store, times, isThorough ? null : undefined))
    },
  },
  {
    name: 'prices',
    settings: 'pricing',
    async run({ upstream: { routing }, loaded }) {
      const { pricing } = loaded.config
      await loadShippedCatalogue()
      const providers = routing.upstreams.map(({ provider }) => provider)
      const found = [
        ...providers.map((provider) => ageOfPrices(provider, pricing.models, new Date())),
        ...refusedModels(providers, pricing),
      ]
      const text = found.map((one) => (typeof one === 'string' ? one : one.warning)).join('; ')
      return found.every((one) => typeof one === 'string') ? text : { warning: text }
    },
  },
  FACTS,
  {
    name: 'bills',
    run: ({ store, loaded: { config, request } }) => checkBilling(store, config, request.env),
  },
  {
    name: 'chains',
    settings: 'chain',
    async run({ chain, loaded }) {
      const found = await checkChains(chain)
      const urls = Object.entries(loaded.config.chain.rpc_urls)
      const proxied = urls.map(([id, url]) => [id, throughProxy(url)]).filter(([, through]) => through !== '')
      return [found, ...proxied.map(([id, through]) => `${id}${through}`)].join('; ')
    },
  },
  {
    name: 'payments',
    settings: 'mpp',
    async run({ loaded: { config }, chain, store }) {
      const left = await leftUnfinished(store)
      if (left !== null) throw new GazewayError('conflict', left)
      if (!config.mpp.enabled) return 'not enabled'
      const settings = paymentSettings(config)
      return checkPayments(settings, await loadMethods(settings, chain))
    },
  },
  {
    name: 'embeddings',
    settings: 'memory.embeddings',
    async run({ loaded, memory }) {
      const { model, upstream } = loaded.config.memory.embeddings
      if (model === null) return 'not configured; searches match words only'
      const { memories, embedded, failure } = await memory.embedding()
      const found = `${embedded} of ${memories} memories have a vector of ${upstream}/${model}`
      if (failure === null) return embedded === memories ? found : `${found}; a running gateway embeds the others`
      return { warning: `${found}; embedding failed: ${failure} Until this is fixed, searches match words only.` }
    },
  },
  {
    name: 'alerts',
    settings: 'alerts',
    async run({ loaded, store }) {
      const { webhook_url: url, webhook_secret: secret } = loaded.config.alerts
      const silent = await silentAlerts(store, loaded.config.alerts)
      if (silent !== null) return { warning: silent }
      if (url === null && secret === null) return 'not configured'
      if (url === null || secret === null)
        return { warning: 'not sent: set both alerts.webhook_url and alerts.webhook_secret.' }
      const failed = await undelivered(store)
      if (failed === null) return `configured${throughProxy(url)}; no failed deliveries`
      return {
        warning: `the last delivery of ${failed.id} failed: ${failed.error} Check alerts.webhook_url and its receiver.`,
      }
    },
  },
  {
    name: 'tracing',
    run: ({ loaded }) => checkCollector(loaded.request.env),
  },
  {
    name: 'agent gateway',
    settings: 'agent_gateway',
    async run({ loaded }) {
      if (loaded.config.agent_gateway.url === null)
        return "not configured; /v1 of the platform is this machine's gateway"
      const target = agentGatewayTarget(loaded.config, null)
      const found = await detect(target, AbortSignal.timeout(PATIENCE_MS))
      const url = redactUrl(target.url) + (target.isOwn ? '' : throughProxy(target.url))
      const fault = faultIn(found)
      if (fault !== null) throw new GazewayError('upstream_unreachable', `${url}: ${fault}`)
      if (found.kind === 'unknown') return `portable: ${url} serves models and is not an agent gateway`
      return `${found.kind} ${found.version ?? ''} answers at ${url}`
    },
  },
]

/** Describes the fault of an agent gateway and its remedy; null when there is none. */
function faultIn({ reachable, kind, supported, version, error }: Detected): string | null {
  if (!reachable) return `${error} Check GAZEWAY_AGENT_GATEWAY_URL, and that the agent gateway runs there.`
  if (error !== null) return error
  if (kind !== 'agent_gateway' || supported) return null
  return `it is version ${version}, and 0.12 is the oldest supported: update it.`
}

/**
 * Checks that the store accepts writes, by one that changes nothing.
 *
 * @throws GazewayError `store_unavailable` for a read-only store
 */
async function requireWritable(store: Store): Promise<void> {
  await store.write((trx) => trx.deleteFrom('memories').where('id', '=', '').execute())
}

/** Finds faults of the environment and the data folder, which need no store. */
export function machineFindings({ dataDir, request, config }: LoadedConfig): Finding[] {
  const unknown = unknownVariables(request.env, Object.keys(config.upstreams))
  const exposed = exposedFiles(dataDir)
  return [
    ...(unknown === null ? [] : [warning('environment', unknown)]),
    ...(exposed === null ? [] : [warning('data folder', exposed)]),
  ]
}

/** Says how the newest calls and their receipts agree, and which were not looked at. */
function auditText(calls: number, { receipts, records, from, uncompared }: Unmatched): string | { warning: string } {
  const rest =
    uncompared === null
      ? ''
      : `; calls from ${uncompared} until then were not compared, \`gazeway doctor --recover\` compares them too`
  if (receipts === 0 && records === 0) return `calls: ${calls}; those since ${from} match their receipts${rest}`
  return {
    warning:
      `calls: ${calls}; of those since ${from}: receipts without a call record: ${receipts}, which a running gateway writes ` +
      `within 10 minutes; charged calls without a receipt: ${records}, whose process died before the charge${rest}`,
  }
}

/** Finding of a check outside of a gateway's. */
export const warning = (name: string, text: string): Finding => ({ name, verdict: 'warn', text, settings: null })

/**
 * Runs all checks. Those of the upstreams run at once; the findings come in the order of the checks.
 *
 * @param options.first checks that run before the others
 * @param options.limitMs timeout of one check in milliseconds; none by default
 * @param options.isThorough true to look at all that a quick run omits
 */
export async function* runChecks(
  gateway: Gateway,
  { first = [], ...how }: { first?: readonly Check[] } & HowToCheck = {},
): AsyncGenerator<Finding, void> {
  const findingOf = (check: Check) => runCheck(check, gateway, how)
  for (const check of [...first, ...STORE_CHECKS]) yield findingOf(check)
  for (const finding of upstreamChecks(gateway).map(findingOf)) yield finding
  for (const check of OTHER_CHECKS) yield findingOf(check)
}

interface HowToCheck {
  limitMs?: number
  isThorough?: boolean
}

/** Runs one check. A failed one is a finding, too. */
async function runCheck(check: Check, gateway: Gateway, { limitMs, isThorough = false }: HowToCheck): Promise<Finding> {
  const found = (verdict: Finding['verdict'], text: string): Finding => ({
    name: check.name,
    verdict,
    text: redactText(text, gateway.loaded.secrets),
    settings: check.settings ?? null,
  })
  try {
    const running = check.run(gateway, isThorough)
    const said = await (limitMs === undefined ? running : inTime(limitMs, running))
    if (said === undefined)
      return found('fail', 'The check took too long. Run `gazeway doctor` on the machine of the gateway.')
    return typeof said === 'string' ? found('ok', said) : found('warn', said.warning)
  } catch (error) {
    return found('fail', reason(error))
  }
}

/** Describes the error of a check on one line. */
export function reason(error: unknown): string {
  if (error instanceof GazewayError && error.code === 'cancelled')
    return `No answer within ${PATIENCE_MS / 1000} s: check the address (--upstream) and the network.`
  // The message of a pause is for payers. Its cause is for the operator.
  const said = error instanceof GazewayError && error.code === 'payments_paused' ? (error.cause ?? error) : error
  // TLS errors contain line breaks.
  return (said instanceof Error ? said.message : String(said)).replace(/\s+/g, ' ')
}
