import * as z from 'zod'

/**
 * Session that a call belongs to, as its client says. All of it is the client's word: bounded in length, and meaningful
 * for its key alone. Two keys that name the same session have two.
 */
export const CallSession = z.object({
  session_id: z.string().nullable(),
  thread_id: z.string().nullable().describe('Agent or thread of the session'),
  parent_id: z.string().nullable().describe('Agent, thread or session that started it'),
  turn_id: z.string().nullable(),
  kind: z.string().nullable().describe('As subagent, compact'),
  client: z.string().nullable(),
  client_version: z.string().nullable(),
})
export type CallSession = z.infer<typeof CallSession>

/** Session of a call whose client says nothing. */
export const NO_SESSION: CallSession = Object.freeze({
  session_id: null,
  thread_id: null,
  parent_id: null,
  turn_id: null,
  kind: null,
  client: null,
  client_version: null,
})

/** Longest id of a session, thread, turn or parent, in characters. Longer ones are ignored. */
export const LONGEST_SESSION_ID = 128

/** Beginning of the ids of sessions that stand for a trace. */
export const TRACE = 'trace:'

/** Tells whether a session stands for a trace, which may be that of one request alone. */
export const isTrace = (sessionId: string): boolean => sessionId.startsWith(TRACE)
