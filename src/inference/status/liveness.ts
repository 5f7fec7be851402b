import { CALL_STATUSES } from '../../calls/call-status.ts'
import type { Calls } from '../../calls/calls.ts'
import { isClientPaid } from '../../providers/prices.ts'
import { inTime } from '../../wire/with-timeout.ts'
import { askForList } from '../clouds/cloud-of.ts'
import type { Routing } from '../route/routing.ts'
import { keyHeaders } from '../upstreams/key-headers.ts'
import type { ModelRole, Provider } from '../upstreams/provider.ts'

/** Time for which a known state is used, in milliseconds. */
const FRESH_MS = 30_000
/** Time limit for listing models, after which a provider counts as dead, in milliseconds. */
const PATIENCE_MS = 5_000
/** Longest wait of the first caller, in milliseconds. */
const FIRST_WAIT_MS = 2_000

const ROLES: readonly ModelRole[] = ['chat', 'primary', 'fallback']

/** Last known state of an upstream. */
export interface UpstreamState {
  /** `default`, or its name in `upstreams`. */
  name: string
  /** True when it has the key that it needs. */
  configured: boolean
  /** True when it answers. Null when unknown, or without a key. */
  reachable: boolean | null
}

/** Health of the upstreams. */
export interface Liveness {
  /**
   * State by the last call, or by listing models at most every 30 s.
   *
   * @returns `answers`: false when some role has no upstream that answers
   */
  current(): Promise<{ upstreams: UpstreamState[]; answers: boolean }>
}

/** Known state of one provider. */
interface Known {
  alive: boolean | null
  at: number
  looking?: Promise<void> | undefined
}

/**
 * Watches upstreams through the calls made anyway. Probes one itself only without recent calls, when somebody asks.
 * Probes are neither recorded nor charged.
 *
 * @param deps.routing gives the current routing
 * @param deps.elapsedMs monotonic clock, in milliseconds
 */
export function createLiveness(deps: {
  routing: () => Routing
  calls: Pick<Calls, 'listen'>
  elapsedMs?: () => number
}): Liveness {
  const { routing, calls, elapsedMs = () => performance.now() } = deps
  // Keyed by provider: after a change of the configuration, an earlier state means nothing.
  const known = new WeakMap<Provider, Known>()

  function knownOf(provider: Provider): Known {
    const found = known.get(provider) ?? { alive: null, at: Number.NEGATIVE_INFINITY }
    known.set(provider, found)
    return found
  }

  function learn(provider: Provider, alive: boolean): void {
    Object.assign(knownOf(provider), { alive, at: elapsedMs() })
  }

  calls.listen(({ status, http_status, upstream, price_from }, context) => {
    if (context?.isTrial || isClientPaid(price_from)) return
    const { counts } = CALL_STATUSES[status]
    // Without a status, it was unreachable or timed out.
    const isDead = counts === 'error' && http_status === null
    if (counts !== 'answer' && !isDead) return
    for (const { provider } of routing().upstreams) if (provider.name === upstream) learn(provider, !isDead)
  })

  async function isAlive(provider: Provider): Promise<boolean | null> {
    if (!provider.hasKey) return null
    if (provider.inProcess) return true
    const state = knownOf(provider)
    if (elapsedMs() - state.at >= FRESH_MS)
      state.looking ??= listsModels(provider)
        .then((alive) => learn(provider, alive))
        .finally(() => {
          state.looking = undefined
        })
    if (state.alive === null) await inTime(FIRST_WAIT_MS, state.looking)
    return state.alive
  }

  return {
    async current() {
      const present = routing()
      const upstreams = await Promise.all(
        present.upstreams.map(async ({ provider }) => ({
          name: provider.id,
          configured: provider.hasKey,
          reachable: await isAlive(provider),
        })),
      )
      const dead = new Set(upstreams.filter(({ reachable }) => reachable === false).map(({ name }) => name))
      return { upstreams, answers: ROLES.every((role) => isAnswered(present, role, dead)) }
    },
  }
}

/** Tells whether an upstream for a role may answer. A role without any key is not set up yet, which is no failure. */
function isAnswered(routing: Routing, role: ModelRole, dead: ReadonlySet<string>): boolean {
  const targets = routing.find(undefined, role)
  return targets.length === 0 || targets.some(({ upstream }) => !dead.has(upstream.provider.id))
}

/** Tells whether the provider answers and accepts its key. One without a model list counts as answering. */
async function listsModels(provider: Provider): Promise<boolean> {
  const { baseUrl, headers, fetch, cloud } = provider
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const asked: RequestInit = {
    headers: { ...headers, accept: 'application/json', ...keyHeaders(provider) },
    redirect: 'manual',
    signal,
  }
  try {
    const { status, body } = await (cloud === null ? fetch(`${baseUrl}/models`, asked) : askForList(provider, signal))
    await body?.cancel()
    return status < 500 && status !== 401 && status !== 403
  } catch {
    // Unreachable or too slow: that is the answer.
    return false
  }
}
