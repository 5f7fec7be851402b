import { randomBytes } from 'node:crypto'
import type { Identity } from './identity.ts'
import type { Keys } from './keys.ts'

/** What a service asks of keys to know its callers. */
export type Authenticator = Pick<Keys, 'authenticate' | 'authenticateCached'>

/** A way for one request into another service of this process. */
export interface Pass {
  token: string
  /** Ends the pass; to be called when the request is over, whatever came of it. */
  end(): void
}

/**
 * Passes let one service of this process call another one in its caller's name, without the caller's key. They live in
 * this process's memory only and open nothing once their request is over.
 */
export interface Passes {
  /** A pass for a caller who was authenticated already; it brings the scope `inference` with it. */
  issue(caller: Identity): Pass
  /** `keys`, and beside them the passes that are in force. */
  beside(keys: Authenticator): Authenticator
}

/** No passes yet; those that it issues are known to this process alone. */
export function createPasses(): Passes {
  const inForce = new Map<string, Identity>()
  return {
    issue(caller) {
      const token = `pass_${randomBytes(32).toString('base64url')}`
      inForce.set(token, { ...caller, scopes: new Set([...caller.scopes, 'inference'] as const) })
      return { token, end: () => void inForce.delete(token) }
    },
    beside: (keys) => ({
      authenticateCached: (token) => inForce.get(token ?? '') ?? keys.authenticateCached(token),
      authenticate: async (token) => inForce.get(token ?? '') ?? keys.authenticate(token),
    }),
  }
}
