import type { ComponentChildren } from 'preact'
import type { CallStatsReply } from '../../../../platform/routes/calls-routes.ts'
import type { ModelConfig } from '../../../../platform/routes/config-model-routes.ts'
import type { Health } from '../../../../platform/routes/health-routes.ts'
import type { ChainBalances } from '../../../../platform/routes/wallet-routes.ts'
import { messageOf, type Tone, When } from '../../components/components.ts'
import { FAILING_SHARE } from '../../components/failing-share.ts'
import { duration, percent } from '../../format.ts'
import { now } from '../../now.ts'
import { href } from '../../router.ts'
import { type Live, useLive } from '../../use-live.ts'
import './overview.css'

/** Age of calls that show whether the provider works now, in milliseconds. */
const RECENT_MS = 15 * 60_000
/** Timeout in milliseconds. The reply waits for chains that do not answer, each for up to 5 s by default. */
const CHAINS_MS = 20_000

/** Health of one part. */
interface Part {
  name: string
  tone: Tone
  state: string
  /** Details or advice. */
  detail: ComponentChildren
}

/** Overall health in one line, and the health of each part. */
export function HealthPanel({ health }: { health: Live<Health> }) {
  const recent = useLive<CallStatsReply>(`/api/calls/stats?from=${recentFrom()}`, { everyMs: 5000 })
  const models = useLive<ModelConfig>('/api/config/model', { everyMs: 15_000 })
  const chains = useLive<ChainBalances>('/api/wallet/balances', { everyMs: 30_000, timeoutMs: CHAINS_MS })
  const parts = partsOf(health, models, recent, chains)
  const worst = worstOf(parts)

  return (
    <section class={`health ${worst}`} aria-labelledby="health-line">
      <h2 id="health-line">
        <span class="dot" aria-hidden="true" />
        {headline(parts, worst)}
      </h2>
      <ul>
        {parts.map(({ name, tone, state, detail }) => (
          <li key={name}>
            <span class={`dot ${tone}`} aria-hidden="true" />
            <strong>{name}</strong> <span class={`state ${tone}`}>{state}</span>
            <span class="hint">{detail}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

const BEING_CHECKED = 'checking'

function worstOf(parts: readonly Part[]): 'bad' | 'warn' | 'good' | 'unknown' {
  const tones = new Set(parts.map(({ tone }) => tone))
  if (tones.has('bad')) return 'bad'
  if (tones.has('warn')) return 'warn'
  return parts.length === 0 || parts.some(({ state }) => state === BEING_CHECKED) ? 'unknown' : 'good'
}

function headline(parts: readonly Part[], worst: ReturnType<typeof worstOf>): string {
  if (worst === 'good') return 'All systems operational'
  if (worst === 'unknown') return 'Checking…'
  const troubled = parts.filter(({ tone }) => tone === 'bad' || tone === 'warn')
  return `Check: ${troubled.map(({ name }) => name).join(', ')}`
}

/** Start of the recent calls, in whole minutes, so that the path changes only once a minute. */
const recentFrom = () => new Date(Math.floor((now.value - RECENT_MS) / 60_000) * 60_000).toISOString()

function partsOf(
  live: Live<Health>,
  models: Live<ModelConfig>,
  recent: Live<CallStatsReply>,
  chains: Live<ChainBalances>,
): Part[] {
  const { data: health, error } = live
  if (error) return [platformPart('bad', 'does not answer', 'Check that its process is running.'), ...UNKNOWN_PARTS]
  if (live.isStale(now.value)) return [platformPart('warn', 'not known', 'No status for 15 s.'), ...UNKNOWN_PARTS]
  if (!health) return []
  const detail = `version ${health.version}, up for ${duration(health.uptime_seconds * 1000)}`
  const platform = platformPart('good', 'running', detail)
  return [platform, storePart(health), gatewayPart(health), providerPart(models, recent), chainPart(chains)]
}

const platformPart = (tone: Tone, state: string, detail: string): Part => ({ name: 'Platform', tone, state, detail })

const UNKNOWN_PARTS = ['Store', 'Agent gateway', 'Models', 'Chains'].map(
  (name): Part => ({ name, tone: 'neutral', state: 'not known', detail: '' }),
)

/** State of a part without a recent status. A missing status is no sign of health. */
function unreadPart(name: string, { error, data }: Live<unknown>): Part {
  if (!error && data) return { name, tone: 'warn', state: 'not known', detail: 'No recent status.' }
  if (error) return { name, tone: 'warn', state: 'not known', detail: messageOf(error) }
  return { name, tone: 'neutral', state: BEING_CHECKED, detail: '' }
}

const isUnread = (live: Live<unknown>): boolean => live.error !== null || live.isStale(now.value)

function storePart({ store }: Health): Part {
  const engine = store.engine === 'postgres' ? 'PostgreSQL' : 'SQLite'
  if (store.ok) return { name: 'Store', tone: 'good', state: 'working', detail: engine }
  return {
    name: 'Store',
    tone: 'bad',
    state: 'does not answer',
    detail: `${engine}; run gazeway doctor on its machine.`,
  }
}

function gatewayPart({ upstream, mode }: Health): Part {
  const name = 'Agent gateway'
  if (!upstream.reachable) {
    if (upstream.checked_at === null) return { name, tone: 'neutral', state: BEING_CHECKED, detail: upstream.url }
    const detail = `${upstream.url}: ${upstream.error ?? 'No answer.'} Start it, or change agent_gateway.url.`
    return { name, tone: 'bad', state: 'not reachable', detail }
  }
  if (upstream.error !== null)
    return { name, tone: 'bad', state: 'not usable', detail: `${upstream.url}: ${upstream.error}` }
  const latency = upstream.latency_ms === null ? '' : `, ${upstream.latency_ms} ms`
  return { name, tone: 'good', state: 'reachable', detail: `${mode}, ${upstream.version ?? upstream.kind}${latency}` }
}

function providerPart(config: Live<ModelConfig>, recent: Live<CallStatsReply>): Part {
  const name = 'Models'
  const models = config.data
  if (!models || isUnread(config)) return unreadPart(name, config)
  const settings = <a href={href('settings', { id: 'providers' })}>Settings</a>
  if (models.api_key_needed && !models.api_key_set) {
    return {
      name,
      tone: 'warn',
      state: 'no API key',
      detail: (
        <>
          Set the key of {models.provider} in {settings}.
        </>
      ),
    }
  }
  if (!recent.data || isUnread(recent)) return unreadPart(name, recent)
  const { errors, error_rate: rate, ...totals } = recent.data.totals
  const calls = totals.calls - totals.refused
  if (calls === 0) return { name, tone: 'good', state: 'ready', detail: `${models.provider}; no calls in 15 min` }
  const summary = `${models.provider}; ${errors} of ${calls} calls failed in 15 min`
  if (rate >= FAILING_SHARE) return { name, tone: 'bad', state: `${percent(rate)} of calls fail`, detail: summary }
  if (errors > 0) return { name, tone: 'warn', state: 'some calls failing', detail: summary }
  return { name, tone: 'good', state: 'answering', detail: `${models.provider}; ${calls} calls in 15 min, none failed` }
}

function chainPart(balances: Live<ChainBalances>): Part {
  const name = 'Chains'
  if (!balances.data || isUnread(balances)) return unreadPart(name, balances)
  const chains = balances.data.items
  const dead = chains.filter(({ error }) => error !== null)
  if (chains.length === 0)
    return { name, tone: 'neutral', state: 'none in use', detail: 'Money moves in the ledger only.' }
  if (dead.length === 0)
    return { name, tone: 'good', state: 'reachable', detail: chains.map(({ chain }) => chain).join(', ') }
  const detail = dead.map(({ chain, error }) => `${chain}: ${error}`).join('; ')
  return { name, tone: 'warn', state: `${dead.length} of ${chains.length} not readable`, detail }
}

/** Time of a page's figures. */
export function AsOf({ health }: { health: Health | null }) {
  return health?.upstream.checked_at ? (
    <span class="hint">
      checked <When at={health.upstream.checked_at} />
    </span>
  ) : null
}
