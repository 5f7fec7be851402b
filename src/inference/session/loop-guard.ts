import { LRUCache } from 'lru-cache'
import { GazewayError } from '../../errors.ts'
import type { SessionLimits } from '../../identity/session-limits.ts'
import type { SessionOf } from '../../wallet/budget/session-budget.ts'
import { sessionOwner } from '../../wallet/budget/session-budget.ts'
import { type Print, printsOf } from './request-prints.ts'

/** Agents of sessions, and prints of each, that a process remembers. */
const [MAX_AGENTS, MAX_PRINTS] = [2_000, 200]
const MINUTE_MS = 60_000

/** A session that has asked the same as often as its key allows. */
export interface Repeated extends SessionOf {
  /** Name of the tool whose result repeats; null for a request. */
  tool: string | null
  times: number
  minutes: number
}

/** Loop guard: what sessions have asked of this process, and how often. */
export interface Repeats {
  /**
   * Checks a request that is about to be made.
   *
   * @param asking.threadId agent of the session: several may read the same file, and none of them runs in a loop
   * @throws GazewayError `session_repeats`
   */
  require(
    asking: SessionOf & { threadId: string | null },
    limit: NonNullable<SessionLimits['repeats']>,
    request: object,
  ): void
  /** Counts a request that was checked, once it has its answer. Others are not counted. */
  answered(request: object): void
}

/**
 * Creates the loop guard.
 *
 * @param elapsedMs monotonic clock in milliseconds
 * @param onRepeated called when a session has asked the same as often as it may: the next time is refused
 */
export function createRepeats(elapsedMs: () => number, onRepeated: (of: Repeated) => void): Repeats {
  const agents = new LRUCache<string, LRUCache<string, number[]>>({ max: MAX_AGENTS })
  const checked = new WeakMap<object, { prints: readonly Print[]; count: (print: Print) => void }>()

  return {
    require({ threadId, ...session }, { times, minutes }, request) {
      // Ids are printable.
      const agent = `${sessionOwner(session)}\n${threadId ?? ''}`
      const asked = agents.get(agent) ?? new LRUCache<string, number[]>({ max: MAX_PRINTS })
      agents.set(agent, asked)
      const timesOf = ({ hash }: Print): number[] =>
        (asked.get(hash) ?? []).filter((at) => elapsedMs() - at < minutes * MINUTE_MS)
      const prints = printsOf(request as Readonly<Record<string, unknown>>)
      const over = prints.find((print) => timesOf(print).length >= times)
      if (over) throw repeats({ ...session, tool: over.tool, times, minutes })
      function count(print: Print): void {
        const answered = [...timesOf(print), elapsedMs()]
        asked.set(print.hash, answered)
        if (answered.length === times) onRepeated({ ...session, tool: print.tool, times, minutes })
      }
      checked.set(request, { prints, count })
    },
    answered(request) {
      const found = checked.get(request)
      if (found === undefined) return
      checked.delete(request)
      for (const print of found.prints) found.count(print)
    },
  }
}

function repeats({ tool, times, minutes }: Repeated): GazewayError {
  const what = tool === null ? 'made the same request' : `got the same result of the same call of ${tool}`
  return new GazewayError(
    'session_repeats',
    `This session has ${what} ${times} times within ${minutes} minutes and seems to run in a loop. Do something else, ` +
      'start a new session, or ask an admin to raise limits.repeats of this key.',
  )
}
