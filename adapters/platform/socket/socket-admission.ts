import { LRUCache } from 'lru-cache'
import type { Connections } from '../../../src/connections/connections.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { ENVIRONMENT_IDENTITY } from '../../../src/identity/identity.ts'
import { requireScope } from '../../../src/identity/keys.ts'
import type { Admission, Tickets } from '../../../src/identity/tickets.ts'
import { newId } from '../../../src/text/ids.ts'
import type { Speaker } from './socket-answers.ts'
import type { Offer } from './upgrade-request.ts'

/** Maximum number of revoked keys that are remembered, for clients admitted while their key is being revoked. */
const MAX_REVOKED = 10_000

/** An admitted client. */
export interface Admitted extends Admission, Pick<Speaker, 'speaksForOthers'> {
  /** `user` is a person's name, not a key's. */
  named: boolean
}

/** Clients' admission by ticket or key. */
export interface Admissions {
  /** @throws GazewayError `invalid_ticket`, `invalid_api_key`, `insufficient_scope` */
  admit(by: Pick<Offer, 'ticket' | 'key'>): Promise<Admitted>
  /** Tells whether the client's key was revoked since it was admitted. */
  isRevoked(admitted: Admitted): boolean
  /** Stops following the keys. */
  stop(): void
}

/** Creates the admissions. When a key ends, its connections are ended too. */
export function createAdmissions(
  { keys, config }: Pick<Gateway, 'keys' | 'config'>,
  { tickets, connections }: { tickets: Tickets; connections: Connections },
): Admissions {
  const revoked = new LRUCache<string, true>({ max: MAX_REVOKED })
  const forgetRevocations = keys.onEnded((id, ending) => {
    if (ending === 'revoked') revoked.set(id, true)
    connections.endThoseOf(id)
  })
  // The fixed key has no id of its own. When it changes, all connections of the old key are ended.
  const forgetFixedKey = config.onChange((present, { config: before }) => {
    if (present.config.identity.api_key === before.identity.api_key) return
    connections.endThoseOf(ENVIRONMENT_IDENTITY.id)
  })

  return {
    async admit({ ticket, key }) {
      if (ticket !== null) {
        const admission = await tickets.redeem(ticket)
        return { ...admission, speaksForOthers: admission.role === 'admin', named: true }
      }
      const identity = keys.authenticateCached(key) ?? (await keys.authenticate(key))
      requireScope(identity, 'platform')
      const role = identity.scopes.has('admin') ? 'admin' : 'user'
      return { id: newId('conn'), user: identity.name, role, identity, speaksForOthers: true, named: false }
    },
    isRevoked: ({ identity }) => revoked.has(identity.id),
    stop() {
      forgetRevocations()
      forgetFixedKey()
    },
  }
}
