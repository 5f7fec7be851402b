import type { IncomingHttpHeaders } from 'node:http'
import type { GazewayError } from '../../src/errors.ts'
import { type Identity, type Scope, scopeFault } from '../../src/identity/keys.ts'
import { loopFault, VIA } from '../../src/wire/forwarding-loop.ts'
import { type HostRules, hostFault } from './hosts.ts'

/**
 * Checks a request before its key is read. It must not wait for anything, because each promise slows every request
 * down.
 *
 * @returns the error that refuses the request; null when it passes
 */
type RequestGuard = (headers: IncomingHttpHeaders, hosts: HostRules) => GazewayError | null

/** Checks the caller of a request, as {@link RequestGuard}. */
type CallerGuard = (identity: Identity, scope: Scope) => GazewayError | null

/** Guards of every request, in order. Frame and fast lane run all of them. */
const REQUEST_GUARDS: readonly RequestGuard[] = [hostFault, ({ via }) => loopFault(via, VIA)]

/** Guards of every request with a key, in order. Frame and fast lane run all of them. */
const CALLER_GUARDS: readonly CallerGuard[] = [scopeFault]

/** Finds the fault of a request that the guards refuse; null when all admit it. */
export function requestFault(headers: IncomingHttpHeaders, hosts: HostRules): GazewayError | null {
  for (const guard of REQUEST_GUARDS) {
    const fault = guard(headers, hosts)
    if (fault !== null) return fault
  }
  return null
}

/** Finds the fault of a caller whom the guards refuse; null when all admit it. */
export function callerFault(identity: Identity, scope: Scope): GazewayError | null {
  for (const guard of CALLER_GUARDS) {
    const fault = guard(identity, scope)
    if (fault !== null) return fault
  }
  return null
}
