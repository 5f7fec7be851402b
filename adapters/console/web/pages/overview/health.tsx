import type { ComponentChildren } from 'preact'
import type { CallStatsReply } from '../../../../platform/routes/calls-routes.ts'
import type { Health } from '../../../../platform/routes/health-routes.ts'
import type { ChainBalances } from '../../../../platform/routes/wallet-routes.ts'
import { messageOf, type Tone, When } from '../../components/content.ts'
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
export function HealthPanel({ health, isLater }: { health: Live<Health>; isLater: boolean }) {
  const recent = useLive<CallStatsReply>(isLater ? `/api/calls/stats?from=${recentFrom()}` : null, { everyMs: 5000 })
  const chains = useLive<ChainBalances>(isLater ? '/api/wallet/balances' : null, {
    everyMs: 30_000,
    timeoutMs: CHAINS_MS,
  })
  const parts = partsOf(health, recent, chains)
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

function partsOf(live: Live<Health>, recent: Live<CallStatsReply>, chains: Live<ChainBalances>): Part[] {
  const { data: health, error } = live
  if (error) return [platformPart('bad', 'does not answer', 'Check that its process is running.'), ...UNKNOWN_PARTS]
  if (live.isStale(now.value)) return [platformPart('warn', 'not known', 'No status for 15 s.'), ...UNKNOWN_PARTS]
  if (!health) return []
  const detail = `version ${health.version}, up for ${duration(health.uptime_seconds * 1000)}`
  const platform = platformPart('good', 'running', detail)
  return [platform, storePart(health), gatewayPart(health), providerPart(health, recent), chainPart(chains)]
}

const part = (name: string, tone: Tone, state: string, detail: ComponentChildren = ''): Part => ({
  name,
  tone,
  state,
  detail,
})

const platformPart = (tone: Tone, state: string, detail: string) => part('Platform', tone, state, detail)

const UNKNOWN_PARTS = ['Store', 'Agent gateway', 'Models', 'Chains'].map((name) => part(name, 'neutral', 'not known'))

/** State of a part without a recent status. A missing status is no sign of health. */
function unreadPart(name: string, { error, data }: Live<unknown>): Part {
  if (!error && !data) return part(name, 'neutral', BEING_CHECKED)
  return part(name, 'warn', 'not known', error ? messageOf(error) : 'No recent status.')
}

const isUnread = (live: Live<unknown>): boolean => live.error !== null || live.isStale(now.value)

function storePart({ store }: Health): Part {
  const engine = store.engine === 'postgres' ? 'PostgreSQL' : 'SQLite'
  if (store.ok) return part('Store', 'good', 'working', engine)
  return part('Store', 'bad', 'does not answer', `${engine}; run gazeway doctor on its machine.`)
}

function gatewayPart({ upstream, mode }: Health): Part {
  const name = 'Agent gateway'
  const { url, kind, version, error, latency_ms } = upstream
  if (!upstream.reachable) {
    if (upstream.checked_at === null) return part(name, 'neutral', BEING_CHECKED, url)
    const detail = `${url}: ${error ?? 'No answer.'} Start it, or change agent_gateway.url.`
    return part(name, 'bad', 'not reachable', detail)
  }
  if (error !== null) return part(name, 'bad', 'not usable', `${url}: ${error}`)
  const latency = latency_ms === null ? '' : `, ${latency_ms} ms`
  return part(name, 'good', 'reachable', `${mode}, ${version ?? kind}${latency}`)
}

function providerPart({ provider: { name: provider, configured } }: Health, recent: Live<CallStatsReply>): Part {
  const name = 'Models'
  if (!configured) {
    const settings = <a href={href('settings', { id: 'providers' })}>Settings</a>
    const advice = (
      <>
        Set the key of {provider} in {settings}.
      </>
    )
    return part(name, 'warn', 'no API key', advice)
  }
  if (!recent.data || isUnread(recent)) return unreadPart(name, recent)
  const { errors, error_rate: rate, ...totals } = recent.data.totals
  const calls = totals.calls - totals.refused
  if (calls === 0) return part(name, 'good', 'ready', `${provider}; no calls in 15 min`)
  const summary = `${provider}; ${errors} of ${calls} calls failed in 15 min`
  if (rate >= FAILING_SHARE) return part(name, 'bad', `${percent(rate)} of calls fail`, summary)
  if (errors > 0) return part(name, 'warn', 'some calls failing', summary)
  return part(name, 'good', 'answering', `${provider}; ${calls} calls in 15 min, none failed`)
}

function chainPart(balances: Live<ChainBalances>): Part {
  const name = 'Chains'
  if (!balances.data || isUnread(balances)) return unreadPart(name, balances)
  const chains = balances.data.items
  const dead = chains.filter(({ error }) => error !== null)
  if (chains.length === 0) return part(name, 'neutral', 'none in use', 'Money moves in the ledger only.')
  if (dead.length === 0) return part(name, 'good', 'reachable', chains.map(({ chain }) => chain).join(', '))
  const detail = dead.map(({ chain, error }) => `${chain}: ${error}`).join('; ')
  return part(name, 'warn', `${dead.length} of ${chains.length} not readable`, detail)
}

/** Time of a page's figures. */
export function AsOf({ health }: { health: Health | null }) {
  return health?.upstream.checked_at ? (
    <span class="hint">
      checked <When at={health.upstream.checked_at} />
    </span>
  ) : null
}
