import { type Breaker, createBreaker } from './breaker.ts'

/** Circuits kept per upstream, since clients can name any model. The one that has not failed for longest is dropped. */
const MAX_CIRCUITS = 1000
/** Statuses of a proxy or overloaded server that answers for one that is down. */
const DOWN = new Set([502, 503, 504])
/** No caller causes a failed connection, so it counts for all. */
const EVERYONE = null

/** Part that a circuit breaker guards: a model at one endpoint. */
export interface Circuit {
  /** Path below the base URL. */
  path: string
  /** Model id at the upstream. */
  model: string
  /** Caller of the request. Null for the tools of this machine. */
  callerId: string | null
}

type OpenTo = ReturnType<Breaker['openTo']>

/** Reports how an admitted request went, as soon as it is known. */
export interface Report {
  /** The upstream takes the request. */
  connected(): void
  /** The reply has begun. */
  answered(status: number): void
  /** There is no reply. */
  failed(): void
}

/** A circuit that is open. */
export interface OpenCircuit {
  /** Endpoint and model. Null for the whole upstream, which accepts no connection. */
  path: string | null
  model: string | null
  /** False when it is open only to the caller whose requests failed. */
  for_everyone: boolean
}

/** A change of a circuit breaker. */
export interface CircuitChange extends OpenCircuit {
  /** `open` also when an open circuit opens to everyone, or to one caller alone. */
  state: 'open' | 'closed'
}

/** Circuit breakers of one upstream: one for each model at each endpoint, and one for its connections. */
export interface Circuits {
  /**
   * Admits a request, or not.
   *
   * @param isLastResort true when nothing else is left to try
   * @returns the report of the request; while a circuit is open, the milliseconds until it admits a probe
   */
  admit(circuit: Circuit, isLastResort: boolean): Report | number
  /** Tells whether a request is refused that is no last resort. */
  isOpen(circuit: Circuit): boolean
  /** Lists the circuits that are open. */
  open(): OpenCircuit[]
}

/**
 * Creates the breakers of an upstream that has not failed. Only models that fail have one: a success costs next to
 * nothing.
 *
 * @param onChange called once for each change of a breaker
 */
export function createCircuits(onChange: (change: CircuitChange) => void = () => {}): Circuits {
  const connection = createBreaker()
  /** True while the breaker of connections is known to be open. */
  let isDown = false
  const failing = new Map<string, { path: string; model: string; breaker: Breaker }>()
  let requests = 0

  const keyOf = ({ path, model }: Circuit): string => `${path} ${model}`
  const breakerOf = (circuit: Circuit): Breaker | undefined =>
    failing.size === 0 ? undefined : failing.get(keyOf(circuit))?.breaker

  function fail(circuit: Circuit): void {
    const key = keyOf(circuit)
    const { path, model, callerId } = circuit
    const known = failing.get(key) ?? { path, model, breaker: createBreaker() }
    failing.delete(key)
    failing.set(key, known)
    if (failing.size > MAX_CIRCUITS) failing.delete(failing.keys().next().value as string)
    const before = known.breaker.openTo()
    known.breaker.failed(callerId, requests)
    changed(known, before)
  }

  function changed({ path, model, breaker }: { path: string; model: string; breaker: Breaker }, before: OpenTo): void {
    const now = breaker.openTo()
    if (now === before) return
    onChange({ path, model, for_everyone: (now ?? before) === 'everyone', state: now === null ? 'closed' : 'open' })
  }

  function connectionChanged(): void {
    if (isDown === (connection.openTo() !== null)) return
    isDown = !isDown
    onChange({ path: null, model: null, for_everyone: true, state: isDown ? 'open' : 'closed' })
  }

  function succeed(circuit: Circuit, request: number): void {
    const key = keyOf(circuit)
    const known = failing.get(key)
    if (known === undefined) return
    const before = known.breaker.openTo()
    if (known.breaker.succeeded(request)) failing.delete(key)
    changed(known, before)
  }

  function waitMs(circuit: Circuit, isLastResort: boolean): number {
    const own = breakerOf(circuit)?.waitMs(circuit.callerId, isLastResort) ?? 0
    return Math.max(own, connection.waitMs(EVERYONE, isLastResort))
  }

  function reportOf(circuit: Circuit): Report {
    const request = ++requests
    let isConnected = false
    const connected = () => {
      isConnected = true
      connection.succeeded(request)
      if (isDown) connectionChanged()
    }
    return {
      connected,
      answered(status) {
        connected()
        if (DOWN.has(status)) fail(circuit)
        else if (failing.size > 0) succeed(circuit, request)
      },
      failed() {
        if (isConnected) fail(circuit)
        else {
          connection.failed(EVERYONE, requests)
          connectionChanged()
        }
      },
    }
  }

  return {
    admit(circuit, isLastResort) {
      const wait = waitMs(circuit, isLastResort)
      if (wait > 0) return wait
      connection.sent(EVERYONE)
      breakerOf(circuit)?.sent(circuit.callerId)
      return reportOf(circuit)
    },
    isOpen: (circuit) => waitMs(circuit, false) > 0,
    open() {
      const found: OpenCircuit[] = connection.openTo() ? [{ path: null, model: null, for_everyone: true }] : []
      for (const { path, model, breaker } of failing.values()) {
        const to = breaker.openTo()
        if (to !== null) found.push({ path, model, for_everyone: to === 'everyone' })
      }
      return found
    },
  }
}
