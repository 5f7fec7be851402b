import type { Calls } from '../calls/calls.ts'
import { inTime } from '../wire/in-time.ts'
import { keyHeaders } from './key-headers.ts'
import type { Provider } from './provider.ts'

/** How long what is known is believed, in milliseconds. */
const FRESH_MS = 30_000
/** How long a provider may take to list its models before it counts as dead, in milliseconds. */
const PATIENCE_MS = 5_000
/** How long whoever asks first waits for an answer, in milliseconds. */
const FIRST_WAIT_MS = 2_000

/** Tells whether the provider of models answers. */
export interface Liveness {
  /** By the last call, or by a list of models that is asked for at most every 30 s; null where that is not known, or it has no key. */
  current(): Promise<boolean | null>
}

/**
 * Watches the provider by the calls that are made anyway, and asks it itself only where there were none and somebody wants to
 * know. What it asks itself is no call: it is neither recorded nor charged.
 *
 * @param deps.provider the present one
 * @param deps.elapsedMs a clock that is never set, in milliseconds
 */
export function createLiveness(deps: {
  provider: () => Provider
  calls: Pick<Calls, 'listen'>
  elapsedMs?: () => number
}): Liveness {
  const { calls, elapsedMs = () => performance.now() } = deps
  let of: Provider | undefined
  let alive: boolean | null = null
  let knownAt = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | undefined

  /** What was known of another provider, before the configuration changed, says nothing. */
  function present(): Provider {
    const provider = deps.provider()
    if (provider !== of) [of, alive, knownAt, looking] = [provider, null, Number.NEGATIVE_INFINITY, undefined]
    return provider
  }

  function learn(answers: boolean): void {
    alive = answers
    knownAt = elapsedMs()
  }

  async function look(provider: Provider): Promise<void> {
    const answers = await listsModels(provider)
    if (provider === present()) learn(answers)
  }

  calls.listen(({ status, http_status }) => {
    present()
    if (status === 'ok') learn(true)
    // No status: it was not reached, or fell silent.
    else if (status === 'error' && http_status === null) learn(false)
  })

  return {
    async current() {
      const provider = present()
      if (!provider.hasKey) return null
      if (provider.inProcess) return true
      if (elapsedMs() - knownAt >= FRESH_MS)
        looking ??= look(provider).finally(() => {
          looking = undefined
        })
      if (alive === null) await inTime(FIRST_WAIT_MS, looking)
      return alive
    },
  }
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
