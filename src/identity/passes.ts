import { randomBytes } from 'node:crypto'
import type { Identity } from './identity.ts'
import type { Keys } from './keys.ts'

/** Authentication as services need it. */
export type Authenticator = Pick<Keys, 'authenticate' | 'authenticateCached'>

/** Token for one request to another service of this process. */
export interface Pass {
  token: string
  /** Ends the pass. Call it once the request is over, whatever its outcome. */
  end(): void
}

/**
 * Passes let one service of this process call another one as its caller, without the caller's key. They are kept in
 * memory and end with their request.
 */
export interface Passes {
  /**
   * Issues a pass for an authenticated caller, with the scope `inference`.
   *
   * @param address address of its client
   */
  issue(caller: Identity, address: string | null): Pass
  /** Extends `keys` with the valid passes. */
  beside(keys: Authenticator): Authenticator
}

/** Creates an empty set of passes, valid within this process. */
export function createPasses(): Passes {
  const inForce = new Map<string, Identity>()
  return {
    issue(caller, address) {
      const token = `pass_${randomBytes(32).toString('base64url')}`
      inForce.set(token, { ...caller, address, scopes: new Set([...caller.scopes, 'inference'] as const) })
      return { token, end: () => void inForce.delete(token) }
    },
    beside: (keys) => ({
      authenticateCached: (token) => inForce.get(token ?? '') ?? keys.authenticateCached(token),
      authenticate: async (token, seenMs) => inForce.get(token ?? '') ?? keys.authenticate(token, seenMs),
    }),
  }
}
