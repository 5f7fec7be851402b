import type { Agent } from '../../../src/agent/agent.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Identity } from '../../../src/identity/keys.ts'
import type { Role } from '../../../src/identity/tickets.ts'
import type { ClientFrame, FiguresFrame, Query, ReplyFrame } from './frame-schemas.ts'

/** Speaker of a connection and the target of its chats. */
export interface Speaker {
  identity: Identity
  /** User name of chats that name nobody; null when unknown. */
  user: string | null
  /** Tells whether chats may name another user. They may on a key's own connections, and on admins'. */
  speaksForOthers: boolean
  role: Role
  /** Session of the chats. The first chat creates it if it is missing. */
  sessionId: string
  /** Address of the service as the client reached it: http://127.0.0.1:8812 */
  reachedAt: string
  /** Address of the client. */
  address: string
}

/** Dependencies of answering frames. */
export interface AnswerDeps {
  /** Agent that answers chat frames. */
  agent: Pick<Agent, 'chat'>
  /** Queries of the operator's figures, by name. */
  queries: Record<Query, (speaker: Speaker) => Promise<object>>
}

/** Answers a frame. @throws GazewayError as the agent; `forbidden` */
export type Answer = (frame: ClientFrame, speaker: Speaker, signal: AbortSignal) => Promise<ReplyFrame | FiguresFrame>

/**
 * Creates the answers to client frames. Only the `type` of a frame selects a query. Text of a chat or of the model
 * never does.
 */
export function createAnswer({ agent, queries }: AnswerDeps): Answer {
  return async (frame, speaker, signal) => {
    const { role, identity, sessionId, address, speaksForOthers } = speaker
    if (frame.type !== 'chat') {
      if (role !== 'admin')
        throw new GazewayError(
          'forbidden',
          `${frame.type} is for admins. Connect with an admin's key, or with a ticket of the role admin.`,
          { param: 'type' },
        )
      return { ...(await queries[frame.type](speaker)), type: frame.type }
    }
    const { content: asked, user = speaker.user } = frame
    if (user !== speaker.user && !speaksForOthers)
      throw new GazewayError('forbidden', 'The ticket of this connection belongs to another user. Omit user.', {
        param: 'user',
      })
    const { content, tensor, poa_score, session_id, message_id } = await agent.chat({
      sessionId,
      createIfMissing: true,
      user,
      content: asked,
      identity,
      surface: 'socket',
      address,
      signal,
    })
    return { type: 'reply', content, tensor, poa_score, session_id, message_id }
  }
}
