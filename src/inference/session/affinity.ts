import { createHash } from 'node:crypto'
import type { CallContext } from '../../calls/call-record.ts'
import { isTrace } from '../../calls/call-session.ts'

/** Names a session among those of all keys. */
export type Affinity = string

/** Largest number of six bytes, and one more. */
const SIX_BYTES = 2 ** 48

/**
 * Affinity of a call's session. Null for a call without one: a trace may be that of one request alone.
 *
 * A session belongs to its key, so nobody can move another's session to an upstream.
 */
export function affinityOf({ callerId, session }: Pick<CallContext, 'callerId' | 'session'>): Affinity | null {
  const id = session?.session_id ?? null
  return id === null || isTrace(id) ? null : `${callerId ?? ''}\0${id}`
}

/**
 * Order of alternatives, drawn by weight without replacement. For a session the draw is a hash of it and of the
 * alternative's name, so that it gets the same order each time, in every process, without state; one more or less leaves
 * the order of the others as it is (weighted rendezvous hashing). Otherwise it is random.
 *
 * An alternative's draw u, even in (0, 1), becomes −ln(u) / weight, and the least comes first (Efraimidis and Spirakis,
 * 2006).
 */
export function drawn<T>(
  of: readonly T[],
  terms: (one: T) => { name: string; weight: number },
  affinity: Affinity | null,
): T[] {
  return of
    .map((one) => {
      const { name, weight } = terms(one)
      const draw = affinity === null ? Math.random() : hashed(`${affinity}\0${name}`)
      return { one, late: -Math.log(draw) / weight }
    })
    .sort((a, b) => a.late - b.late)
    .map(({ one }) => one)
}

/** Hash of a text, as a number between 0 and 1. */
const hashed = (text: string): number => (createHash('sha256').update(text).digest().readUIntBE(0, 6) + 0.5) / SIX_BYTES
