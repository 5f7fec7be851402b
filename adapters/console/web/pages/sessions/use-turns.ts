import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import type { SessionMessage } from '../../../../../src/sessions/session.ts'
import type { List } from '../../paging.ts'
import { session } from '../../signed-in.ts'
import { useLive } from '../../use-live.ts'
import { type Said, saidIn, saidInChat } from './said.ts'

/** Words of a call of a session, and of a chat its tensor and score. */
export interface Turn extends Said {
  tensor?: string | undefined
  score?: string | undefined
}

/** Most messages of a chat that are read, the newest. */
const MOST_MESSAGES = 200

/**
 * Turns of a session by the id of their call: of chats with the agent from their messages, of other sessions from the content
 * of their calls where it is stored.
 *
 * @param calls newest first
 */
export function useTurns(id: string, calls: readonly CallRecord[]): ReadonlyMap<string, Turn> {
  const isChat = calls.some(({ surface }) => surface === 'socket' || surface === 'platform')
  const path = `/api/sessions/${encodeURIComponent(id)}/messages?limit=${MOST_MESSAGES}`
  const { data } = useLive<List<SessionMessage>>(isChat && !session.value?.isInference ? path : null)
  const messages = data?.items ?? []
  return new Map(
    calls.flatMap((call, at) => {
      const following = calls
        .slice(0, at)
        .findLast(({ thread_id, kind }) => thread_id === call.thread_id && kind === call.kind)
      const said = saidInChat(messages, call.call_id) ?? saidIn(call, following)
      const { tensor, poa_score } = messages.find(({ call_id }) => call_id === call.call_id) ?? {}
      return said === null ? [] : [[call.call_id, { ...said, tensor, score: poa_score?.toFixed(2) }] as const]
    }),
  )
}
