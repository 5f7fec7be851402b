import type { IncomingMessage } from 'node:http'
import { GazewayError } from '../../../src/errors.ts'
import type { Scope } from '../../../src/identity/key.ts'
import type { Identity } from '../../../src/identity/keys.ts'
import type { Authenticator } from '../../../src/identity/passes.ts'
import { keyOf } from '../../web/frame.ts'
import { callerFault, requestFault } from '../../web/guards.ts'
import type { HostRules } from '../../web/hosts.ts'
import type { RateLimit } from '../../web/rate-limit.ts'
import { targetFault } from '../../web/request-target.ts'

/** Path of the socket. */
export const PATH = '/v1/responses'
/** Connections of one key. */
const MOST_PER_KEY = 64

/** Callers of the socket. */
export interface SocketCallers {
  /** Admits an upgrade request. @throws GazewayError */
  admit(incoming: IncomingMessage): Promise<Identity>
  /** Authenticates the key of an upgrade request, and counts a request of it. @throws GazewayError */
  authenticate(incoming: IncomingMessage): Promise<Identity>
  /** @throws GazewayError `too_many_requests` when a key has as many connections as it may */
  requirePlace(keyId: string): void
  /** Counts a connection of a key. @returns ends it */
  enter(keyId: string): () => void
}

/** Dependencies of {@link SocketCallers}. */
export interface SocketCallersDeps {
  keys: Authenticator
  /** Scope that a key needs; `inference` by default. */
  scope?: Scope
  hosts: HostRules
  /** Counts a request of a key. */
  count: RateLimit['count']
  /** Connections of one key; 64 by default. */
  mostPerKey?: number
}

export function createSocketCallers(deps: SocketCallersDeps): SocketCallers {
  const { keys, scope = 'inference', hosts, count, mostPerKey = MOST_PER_KEY } = deps
  const connections = new Map<string, number>()

  async function authenticate(incoming: IncomingMessage): Promise<Identity> {
    const token = keyOf(incoming.headers, PATH)
    const identity = keys.authenticateCached(token) ?? (await keys.authenticate(token))
    const fault = callerFault(identity, scope)
    if (fault !== null) throw fault
    count(identity.id)
    return identity
  }

  return {
    authenticate,
    async admit(incoming) {
      const fault = targetFault(incoming) ?? requestFault(incoming.headers, hosts)
      if (fault !== null) throw fault
      const [path] = (incoming.url ?? '').split('?', 1)
      if (path !== PATH) throw new GazewayError('not_found', `There is no socket here; it is at ${PATH}.`)
      return authenticate(incoming)
    },
    requirePlace(keyId) {
      if ((connections.get(keyId) ?? 0) >= mostPerKey) throw tooMany(mostPerKey)
    },
    enter(keyId) {
      connections.set(keyId, (connections.get(keyId) ?? 0) + 1)
      return () => {
        const left = (connections.get(keyId) ?? 1) - 1
        if (left === 0) connections.delete(keyId)
        else connections.set(keyId, left)
      }
    },
  }
}

const tooMany = (most: number): GazewayError =>
  new GazewayError('too_many_requests', `This key has ${most} connections to ${PATH}. Close one of them.`, {
    retryAfterSeconds: 5,
  })
