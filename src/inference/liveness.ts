import type { Calls } from '../calls/calls.ts'
import { inTime } from '../wire/in-time.ts'
import { keyHeaders } from './key-headers.ts'
import type { ModelRole, Provider } from './provider.ts'
import type { Routing } from './routing.ts'

/** How long what is known is believed, in milliseconds. */
const FRESH_MS = 30_000
/** How long a provider may take to list its models before it counts as dead, in milliseconds. */
const PATIENCE_MS = 5_000
/** How long whoever asks first waits for an answer, in milliseconds. */
const FIRST_WAIT_MS = 2_000

const ROLES: readonly ModelRole[] = ['chat', 'primary', 'fallback']

/** An upstream, as far as its state is known. */
export interface UpstreamState {
  /** `default`, or its name among `upstreams`. */
  name: string
  /** Whether it has the key that it needs. */
  configured: boolean
  /** Whether it answers; null where that is not known, or it has no key. */
  reachable: boolean | null
}

/** Tells whether the upstreams answer. */
export interface Liveness {
  /**
   * By the last call, or by a list of models that is asked for at most every 30 s.
   *
   * @returns `answers`: false where no upstream answers for some role
   */
  current(): Promise<{ upstreams: UpstreamState[]; answers: boolean }>
}

/** What is known of one provider. */
interface Known {
  alive: boolean | null
  at: number
  looking?: Promise<void> | undefined
}

/**
 * Watches the upstreams by the calls that are made anyway, and asks one itself only where there were none and somebody wants
 * to know. What it asks itself is no call: it is neither recorded nor charged.
 *
 * @param deps.routing the present one
 * @param deps.elapsedMs a clock that is never set, in milliseconds
 */
export function createLiveness(deps: {
  routing: () => Routing
  calls: Pick<Calls, 'listen'>
  elapsedMs?: () => number
}): Liveness {
  const { routing, calls, elapsedMs = () => performance.now() } = deps
  // What was known of another provider, before the configuration changed, says nothing.
  const known = new WeakMap<Provider, Known>()

  function knownOf(provider: Provider): Known {
    const found = known.get(provider) ?? { alive: null, at: Number.NEGATIVE_INFINITY }
    known.set(provider, found)
    return found
  }

  function learn(provider: Provider, alive: boolean): void {
    Object.assign(knownOf(provider), { alive, at: elapsedMs() })
  }

  calls.listen(({ status, http_status, upstream }) => {
    // No status: it was not reached, or fell silent.
    const isDead = status === 'error' && http_status === null
    if (status !== 'ok' && !isDead) return
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

/** Whether an upstream for a role may answer. One without any key is not set up yet, which is no failure. */
function isAnswered(routing: Routing, role: ModelRole, dead: ReadonlySet<string>): boolean {
  const targets = routing.find(undefined, role)
  return targets.length === 0 || targets.some(({ upstream }) => !dead.has(upstream.provider.id))
}

/** Whether the provider answers and takes its key; one that has no list of models answers, too. */
async function listsModels(provider: Provider): Promise<boolean> {
  const { baseUrl, headers, fetch } = provider
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const request = new Request(`${baseUrl}/models`, {
    headers: { ...headers, accept: 'application/json', ...keyHeaders(provider) },
    redirect: 'manual',
    signal,
  })
  try {
    const { status, body } = await fetch(request)
    await body?.cancel()
    return status < 500 && status !== 401 && status !== 403
  } catch {
    // Not reached, or not in time: that is the answer.
    return false
  }
}
