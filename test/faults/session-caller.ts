import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createStoppedSessions } from '../../src/coding-sessions/stopped-sessions.ts'
import { GazewayError } from '../../src/errors.ts'
import { createSessionGate } from '../../src/inference/session/session-gate.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createReservations } from '../../src/wallet/budget/reservations.ts'
import { sessionOwner } from '../../src/wallet/budget/session-budget.ts'

/** Calls of a session that one process let through. */
export interface SessionOutcome {
  /** Calls that began. */
  begun: number
  /** Calls that money was reserved for. */
  reserved: number
}

/**
 * One gateway's calls of a session, all at once: `session-caller.ts STORE-URL KEY CALLS LIMIT MICROS`. Says `ready`,
 * begins with the first line of its stdin, says its outcome as JSON, and holds what it has until its stdin ends.
 */
const [url = '', callerId = '', calls = '', limit = '', micros = ''] = process.argv.slice(2)
const fail = (error: unknown) => {
  throw error
}
const now = () => new Date()
const store = await openStore(url)
const stopped = createStoppedSessions(store, now, fail)
const gate = createSessionGate({ stopped, store, now, onRepeated() {}, onError: fail })
const reservations = createReservations({ store, now, onError: fail })
const session = { sessionId: 'raced', threadId: null }
const sessionLimits = { micros: null, calls: Number(limit), minutes: null, repeats: null }
const spender = { id: callerId, groupId: null, session: sessionOwner({ callerId, ...session }) }
const lines = createInterface({ input: process.stdin })

process.stdout.write('ready\n')
await once(lines, 'line')
const outcome: SessionOutcome = {
  begun: await through(() => gate.begin({ id: callerId, sessionLimits }, session, {})),
  reserved: await through(() => reservations.reserve({ spender, creditMicros: null, budgets: 'some' }, Number(micros))),
}
process.stdout.write(`${JSON.stringify(outcome)}\n`)
await once(lines, 'close')
await stopped.close()
await store.close()
process.exit()

/** Makes all calls at once. @returns how many were let through; the others for the session's limit alone */
async function through(make: () => unknown): Promise<number> {
  const made = await Promise.allSettled(Array.from({ length: Number(calls) }, async () => make()))
  for (const one of made)
    if (
      one.status === 'rejected' &&
      !(one.reason instanceof GazewayError && one.reason.code === 'session_budget_reached')
    )
      throw one.reason
  return made.filter(({ status }) => status === 'fulfilled').length
}
