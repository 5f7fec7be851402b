import { LRUCache } from 'lru-cache'
import type { CallListener } from '../calls/calls.ts'
import type { SessionKey } from './note-facts.ts'
import type { SessionFacts } from './session-facts.ts'
import { turnFacts } from './turn-facts.ts'

/** Sessions whose last facts are known to this process. Others are noted again, without an effect. */
const MOST_KNOWN = 10_000

/**
 * Creates a listener that notes what the turn metadata of calls say, whenever it changes.
 *
 * @param note notes facts; must not reject
 */
export function followTurns(note: (session: SessionKey, facts: SessionFacts) => void): CallListener {
  const known = new LRUCache<string, string>({ max: MOST_KNOWN })
  return ({ session_id, caller_id, at }, context) => {
    if (session_id === null || context?.turnMetadata === undefined) return
    const facts = turnFacts(context.turnMetadata)
    if (facts === null) return
    const session = `${caller_id ?? ''}\0${session_id}`
    const said = JSON.stringify(facts)
    if (known.get(session) === said) return
    known.set(session, said)
    note({ callerId: caller_id, sessionId: session_id }, { ...facts, at })
  }
}
