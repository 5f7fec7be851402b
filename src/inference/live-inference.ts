import { type Base, logged } from '../base.ts'
import type { Calls } from '../calls/calls.ts'
import type { StoppedSessions } from '../coding-sessions/stopped-sessions.ts'
import type { Config } from '../config/config-schema.ts'
import type { HotReloaded } from '../config/hot-reload.ts'
import type { Log } from '../config/log.ts'
import { lazily } from '../lazily.ts'
import { loadShippedCatalogue } from '../providers/shipped-catalogue.ts'
import type { Sweep } from '../store/sweeps.ts'
import { type Micros, toMicros } from '../text/money.ts'
import { pricingOf } from '../wallet/receipts/pricing.ts'
import { createRefusals, type NoteRefusal } from './admit/refusals.ts'
import type { CallDeps } from './call.ts'
import { createSharedFacts } from './dialect/shared-facts.ts'
import { createUpstream, type Upstream } from './inference.ts'
import type { OpenUpstream } from './open.ts'
import { createCallRates } from './rates/call-rates.ts'
import { createReasoning } from './reasoning/reasoning.ts'
import { createCacheWatch } from './session/cache-watch.ts'
import type { Repeated } from './session/loop-guard.ts'
import { createSessionGate } from './session/session-gate.ts'
import { createLateTerms } from './settle/abandoned-answer.ts'
import { createLiveness, type Liveness } from './status/liveness.ts'
import { watchRecentCalls } from './status/recent-calls.ts'
import { type ShownUpstream, upstreamStates } from './status/upstream-states.ts'
import { keepHealth, type OnHealth } from './upstreams/health.ts'
import { namedConfigs } from './upstreams/upstream-configs.ts'

const loadOpen = lazily(async () => (await Promise.all([import('./open.ts'), loadShippedCatalogue()]))[0])
const loadSuccession = lazily(() => import('./relay/succession.ts'))

/** The upstreams of the configuration in force, and their state. */
export interface LiveInference {
  /** The newest upstreams. A call ends on the ones that it began with. */
  upstreams: HotReloaded<Upstream>
  /** Records a call refused before any upstream was called. */
  noteRefusal: NoteRefusal
  /** Health of the upstreams. */
  liveness: Liveness
  /** State of the upstreams, for operators. */
  upstreamStates(): Promise<ShownUpstream[]>
  /**
   * Runs work with the upstreams of settings that are not in force, which are closed after it. They share no health and
   * no facts with those in force. Its calls are marked as trials by their context.
   */
  withUpstreamsOf<T>(config: Config, work: (upstream: Upstream) => Promise<T>): Promise<T>
  /** Gives back what this process holds of the rate limits of keys. */
  closeRates(): Promise<void>
  /** Sweeps for `startSweeps`. */
  sweeps: readonly Sweep[]
}

/** Picks what the upstreams are created from. */
const upstreamSettings = (settings: Config) => ({
  config: settings.upstream,
  upstreams: settings.upstreams,
  // Compared, too: the first upstream that serves a model answers.
  order: Object.keys(settings.upstreams),
  routes: settings.routes,
  pricing: pricingOf(settings),
  storeContent: settings.audit.store_content,
  wallet: settings.wallet,
})
type UpstreamSettings = ReturnType<typeof upstreamSettings>

/** Opens the room: its upstreams follow their settings, routes, prices and limits. */
export function liveInference(
  base: Base,
  deps: {
    calls: Calls
    countTokens: (text: string) => Promise<number>
    stopped: StoppedSessions
    onRepeated: (of: Repeated) => void
    billing: Pick<
      CallDeps['billing'],
      'identity' | 'reservations' | 'absorbed' | 'charge' | 'onForeignModel' | 'onAbsorbed' | 'onOverrun'
    >
  },
): LiveInference {
  const { store, config, now } = base
  const { calls, countTokens } = deps
  const noteRefusal = createRefusals({ calls, upstream: () => upstream.provider.name, now })
  const rates = createCallRates({
    store,
    onError: logged(base, 'Failed to give back what calls took of rate limits; will retry.'),
  })
  const reasoning = createReasoning({
    store,
    now,
    keepDays: () => config.current().config.responses.keep_days,
    onError: logged(base, 'Failed to carry the reasoning of a provider; calls go on without it.', 'warn'),
  })
  const sessionGate = createSessionGate({
    stopped: deps.stopped,
    onRepeated: deps.onRepeated,
    store,
    now,
    onError: logged(base, 'Failed to take a refused call out of the calls of its session.', 'warn'),
  })
  const billing = { ...deps.billing, rates, sessionGate, noteRefusal, now }
  const healthOf = keepHealth((upstream) => loggedHealth(base.log, upstream))
  const facts = createSharedFacts({
    store,
    now,
    onError: logged(base, 'Failed to share what models refuse; this process keeps its own facts.', 'warn'),
  })
  const watchCache = createCacheWatch((miss) => base.log.warn('A session lost its prompt cache.', { ...miss }))
  const late = createLateTerms(config.current().config.wallet.read_on_ms)
  const create = ({ wallet, upstreams, pricing, order: _, ...settings }: UpstreamSettings, isTrial = false) =>
    createUpstream({
      ...settings,
      prices: pricing,
      named: namedConfigs({ upstream: settings.config, upstreams }),
      ...(!isTrial && { healthOf, facts }),
      calls,
      reasoning,
      countTokens,
      late: { ...late, readOnMs: wallet.read_on_ms },
      watchCache,
      billing: {
        ...billing,
        pricing,
        defaultCreditMicros: toMicros(wallet.default_credit_limit_usd) as Micros,
        waitMs: wallet.wait_ms,
        maxOutputTokens: wallet.max_output_tokens,
        searchTokens: wallet.search_tokens,
        storesAllReceipts: wallet.receipts === 'all',
      },
    })
  const reloaded = config.hotReload(upstreamSettings, (settings) => create(settings))
  const upstream = reloadingUpstream(reloaded)
  const liveness = createLiveness({ routing: () => upstream.routing, calls })
  const recent = watchRecentCalls(calls)
  return {
    upstreams: { ...reloaded, always: upstream },
    noteRefusal,
    liveness,
    async withUpstreamsOf(settings, work) {
      const tried = create(upstreamSettings(settings), true)
      try {
        return await work(tried)
      } finally {
        await (await tried.openCalls()).close()
      }
    },
    closeRates: rates.close,
    sweeps: [...reasoning.sweeps, facts.sweep],
    upstreamStates: () =>
      upstreamStates({ routing: upstream.routing, liveness, recent, relaysOf: (of) => upstream.relaysOf(of) }),
  }
}

/** Logs the changes of an upstream's health. */
const loggedHealth = (log: Log, upstream: string): OnHealth => ({
  circuit({ state, ...circuit }) {
    if (state === 'open') log.warn('A circuit breaker opened.', { upstream, ...circuit })
    else log.info('A circuit breaker closed.', { upstream, ...circuit })
  },
  rest: (rest) => log.warn('A key of an upstream rests after a refusal.', { upstream, ...rest }),
})

/** Uses the newest `upstream`, with calls that do the same. */
function reloadingUpstream({ always, now, onReload }: HotReloaded<Upstream>): Upstream {
  return Object.defineProperty(always, 'openCalls', { value: open })

  async function open(): ReturnType<Upstream['openCalls']> {
    const [{ openUpstream }, { createSuccession }] = await Promise.all([loadOpen(), loadSuccession()])
    const upstreams = createSuccession<OpenUpstream>()
    let newest = upstreams.put(now().openBy(openUpstream))
    // Synchronously, so that no request sees the new configuration with the old upstream.
    const stop = onReload(() => {
      newest = upstreams.put(now().openBy(openUpstream))
    })
    return {
      current: () => newest,
      async close() {
        stop()
        await upstreams.close()
      },
    }
  }
}
