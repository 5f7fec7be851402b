import { sql } from 'kysely'
import { type Detected, detect } from '../../src/agent-gateway/detect.ts'
import { agentGatewayTarget } from '../../src/agent-gateway/target.ts'
import { undelivered } from '../../src/alerts/alerts.ts'
import { silentAlerts } from '../../src/alerts/silent-alerts.ts'
import { checkChains } from '../../src/chain/check-chains.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { exposedFiles } from '../../src/config/private-files.ts'
import { redactUrl } from '../../src/config/redact.ts'
import { unknownVariables } from '../../src/config/unknown-variables.ts'
import { GazewayError } from '../../src/errors.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { refusedModels } from '../../src/inference/status/price-list.ts'
import { checkPayments } from '../../src/payments/check-payments.ts'
import { loadMethods } from '../../src/payments/methods.ts'
import { paymentSettings } from '../../src/payments/payment-settings.ts'
import { leftUnfinished } from '../../src/payments/unfinished.ts'
import { ageOfPrices } from '../../src/providers/price-age.ts'
import { loadShippedCatalogue } from '../../src/providers/shipped-catalogue.ts'
import { checkBilling } from '../../src/reconcile/reconcile.ts'
import { storeClockAhead } from '../../src/store/clock.ts'
import { requireUpToDate } from '../../src/store/existing-store.ts'
import { DAMAGED_ADVICE } from '../../src/store/sqlite/sqlite-errors.ts'
import type { Store } from '../../src/store/store.ts'
import { toUsd } from '../../src/text/money.ts'
import { presumedInAll } from '../../src/wallet/budget/presumed.ts'
import { countUnmatched, settledTimes } from '../../src/wallet/receipts/missing-records.ts'
import { throughProxy } from '../../src/wire/proxy-choice.ts'
import { checkCollector } from '../http/collector.ts'
import type { Check } from './check.ts'
import { FACTS, FORGETTING } from './facts-checks.ts'
import { otherCopies } from './other-copies.ts'
import { PATIENCE_MS, upstreamChecks } from './upstream-checks.ts'

/** Largest clock difference between the store and this machine, in milliseconds. */
const CLOCK_MS = 2_000

/** Checks that run before those of the upstreams. */
const STORE_CHECKS: readonly Check[] = [
  {
    name: 'store',
    async run({ memory, loaded, store }) {
      const { count } = await memory.stats()
      await requireWritable(store)
      await requireSound(store)
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
      const { transfers, faults: ofLedger, head } = await wallet.verify()
      const faults = [...ofLedger, ...(await escrows.verify())]
      if (faults.length === 0) return `${transfers} transfers, in order; head ${head.slice(0, 16)}`
      throw new GazewayError(
        'store_corrupt',
        `${faults.join(' ')} Restore a backup, and find out who wrote to the store.`,
      )
    },
  },
]

/** Reads the journals of dead processes. */
const RECOVERY: Check = {
  name: 'recovery',
  async run({ journal }) {
    const { processes, calls, charges, releasedMicros } = await journal.recover()
    if (processes === 0) return 'no process of this data folder died'
    return `journals: ${processes}; counted calls: ${calls}, uncharged: ${charges}; released ${toUsd(releasedMicros)} USD`
  },
}

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
    async run({ calls, store, loaded }) {
      await calls.flush()
      const { totals } = await calls.stats({})
      const { receipts, records } = await countUnmatched(
        store,
        settledTimes(new Date(), loaded.config.audit.retention_days),
      )
      if (receipts === 0 && records === 0) return `calls: ${totals.calls}`
      return {
        warning:
          `calls: ${totals.calls}; receipts without a call record: ${receipts}, which a running gateway writes within 10 ` +
          `minutes; charged calls without a receipt: ${records}, whose process died before the charge`,
      }
    },
  },
  {
    name: 'prices',
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
    async run({ chain, loaded }) {
      const found = await checkChains(chain)
      const urls = Object.entries(loaded.config.chain.rpc_urls)
      const proxied = urls.map(([id, url]) => [id, throughProxy(url)]).filter(([, through]) => through !== '')
      return [found, ...proxied.map(([id, through]) => `${id}${through}`)].join('; ')
    },
  },
  {
    name: 'payments',
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

/**
 * Checks a whole SQLite file, because a damaged file can still answer most queries. PostgreSQL checks what it reads by
 * itself.
 *
 * @throws GazewayError `store_corrupt`
 */
async function requireSound({ engine, db }: Store): Promise<void> {
  if (engine !== 'sqlite') return
  const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(db)
  const found = rows[0]?.quick_check ?? ''
  if (found !== 'ok') throw new GazewayError('store_corrupt', `It is damaged (${found}). ${DAMAGED_ADVICE}`)
}

/**
 * Runs all checks and prints a line for each. The line of a failed check says what to do.
 *
 * @param print takes a line without its end
 * @param options.command path of the running command, which is compared to the installed one
 * @param options.recover true to count first what dead processes had not written
 * @param options.forgetFacts true to forget first what models refuse
 * @returns whether all checks passed
 */
export async function runDoctor(
  loaded: LoadedConfig,
  log: Log,
  print: (line: string) => void,
  {
    command = null,
    recover = false,
    forgetFacts = false,
  }: { command?: string | null; recover?: boolean; forgetFacts?: boolean } = {},
): Promise<boolean> {
  const line = (verdict: string, name: string, found: string) =>
    print(`${verdict.padEnd(4)}  ${name.padEnd(13)}  ${found}`)
  const say = (ok: boolean, name: string, found: string) => line(ok ? 'ok' : 'FAIL', name, found)
  say(true, 'configuration', loaded.dataDir)
  const unknown = unknownVariables(loaded.request.env, Object.keys(loaded.config.upstreams))
  if (unknown !== null) line('warn', 'environment', unknown)
  const others = command === null ? null : otherCopies(command, loaded.request.env)
  if (others !== null) line('warn', 'installation', others)
  const exposed = exposedFiles(loaded.dataDir)
  if (exposed !== null) line('warn', 'data folder', exposed)
  let gateway: Gateway
  try {
    await requireUpToDate(loaded.storeUrl)
    gateway = await createGateway(loaded, log)
  } catch (error) {
    say(false, 'store', reason(error))
    return false
  }
  let healthy = true
  const first = [...(recover ? [RECOVERY] : []), ...(forgetFacts ? [FORGETTING] : [])]
  for (const check of [...first, ...STORE_CHECKS, ...upstreamChecks(gateway), ...OTHER_CHECKS]) {
    try {
      const found = await check.run(gateway)
      if (typeof found === 'string') say(true, check.name, found)
      else line('warn', check.name, found.warning)
    } catch (error) {
      healthy = false
      say(false, check.name, reason(error))
    }
  }
  try {
    await gateway.close()
  } catch (error) {
    healthy = false
    say(false, 'store', reason(error))
  }
  return healthy
}

function reason(error: unknown): string {
  if (error instanceof GazewayError && error.code === 'cancelled')
    return `No answer within ${PATIENCE_MS / 1000} s: check the address (--upstream) and the network.`
  // The message of a pause is for payers. Its cause is for the operator.
  const said = error instanceof GazewayError && error.code === 'payments_paused' ? (error.cause ?? error) : error
  // TLS errors contain line breaks.
  return (said instanceof Error ? said.message : String(said)).replace(/\s+/g, ' ')
}
