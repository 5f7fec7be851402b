import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import type { Session, SessionMessage, SessionPatch } from '../sessions/session.ts'
import { RemoteMessage, RemoteSession, toMessages, toSession } from './remote-session.ts'
import { type Access, requestReply, send } from './request-agent-gateway.ts'

/** Maximum number of sessions per reply of the agent gateway. */
const PAGE = 200
/** Maximum number of sessions that are read, the newest. */
const MAX_SESSIONS = 1000

/** The sessions of the agent gateway, requested by its ids. Results have local ids. */
export interface RemoteSessions {
  /** Returns the last active sessions, at most 1,000. @throws GazewayError as `ask` */
  newest(): Promise<Session[]>
  /** @throws GazewayError as `ask` */
  get(id: string): Promise<Session>
  /** Returns all messages of a session, oldest first. @throws GazewayError as `ask` */
  messages(id: string): Promise<SessionMessage[]>
  /** @throws GazewayError as `ask` */
  update(id: string, patch: SessionPatch): Promise<Session>
  /** @throws GazewayError as `ask` */
  remove(id: string): Promise<void>
  /** Sends a message in a session and waits for the whole answer. @throws GazewayError as `ask` */
  chat(id: string, body: ChatBody, limits: { timeoutMs: number; signal: AbortSignal | undefined }): Promise<ChatReply>
  /** Sends a message and returns the agent gateway's server-sent events. @throws GazewayError as `send` */
  chatStream(id: string, body: ChatBody, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>
}

/** Message to the agent. */
export interface ChatBody {
  message: string
}

const ChatReply = z.object({
  message: z.object({ role: z.string(), content: z.string() }),
  usage: z.record(z.string(), z.unknown()).nullish(),
})
/** Answer of the agent. */
export type ChatReply = z.infer<typeof ChatReply>

const List = z.object({
  data: z.array(z.unknown()).optional(),
  items: z.array(z.unknown()).optional(),
  has_more: z.boolean().nullish(),
})
const One = z.object({ session: RemoteSession })
const Messages = z.object({ data: z.array(RemoteMessage).optional(), messages: z.array(RemoteMessage).optional() })

/**
 * Creates the client of an agent gateway's sessions.
 *
 * @param timeoutMs timeout of each request except chats, which have their own
 */
export function createRemoteSessions({ access, timeoutMs }: { access: Access; timeoutMs: number }): RemoteSessions {
  function pathOf(id: string, rest = ''): string {
    // These ids lead to other routes, encoded or not (WHATWG URL, section 4.5).
    if (['', '.', '..'].includes(id)) throw new GazewayError('not_found', 'The agent gateway has no such session.')
    return `/api/sessions/${encodeURIComponent(id)}${rest}`
  }

  return {
    async newest() {
      const deadline = AbortSignal.timeout(timeoutMs)
      const found = new Map<string, Session>()
      for (let offset = 0; offset < MAX_SESSIONS; offset += PAGE) {
        const path = `/api/sessions?limit=${PAGE}&offset=${offset}`
        const reply = await requestReply(access, { path, reply: List, timeoutMs, signal: deadline })
        const page = (reply.data ?? reply.items ?? []).flatMap((item) => sessionIn(item))
        const before = found.size
        for (const session of page) found.set(session.id, session)
        // An agent gateway without `offset` would repeat the same page forever.
        if (found.size === before || !(reply.has_more ?? page.length >= PAGE)) break
      }
      return [...found.values()].sort(lastActiveFirst)
    },

    async get(id) {
      const { session } = await requestReply(access, { path: pathOf(id), reply: One, timeoutMs })
      return toSession(session)
    },

    async messages(id) {
      const { data, messages } = await requestReply(access, {
        path: pathOf(id, '/messages'),
        reply: Messages,
        timeoutMs,
      })
      return toMessages(id, data ?? messages ?? [])
    },

    async update(id, body) {
      const { session } = await requestReply(access, { method: 'PATCH', path: pathOf(id), body, reply: One, timeoutMs })
      return toSession(session)
    },

    async remove(id) {
      await requestReply(access, { method: 'DELETE', path: pathOf(id), reply: z.unknown(), timeoutMs })
    },

    chat: (id, body, limits) =>
      requestReply(access, { method: 'POST', path: pathOf(id, '/chat'), body, reply: ChatReply, ...limits }),

    async chatStream(id, body, signal) {
      const reply = await send(access, { method: 'POST', path: pathOf(id, '/chat/stream'), body, signal })
      return reply.body ?? new ReadableStream({ start: (controller) => controller.close() })
    },
  }
}

function sessionIn(item: unknown): Session[] {
  const { data } = RemoteSession.safeParse(item)
  return data ? [toSession(data)] : []
}

type Order = Pick<Session, 'id' | 'last_active'>

/** Sort order of sessions: last active first, then by id. */
export function lastActiveFirst(a: Order, b: Order): number {
  if (a.last_active !== b.last_active) return b.last_active - a.last_active
  if (a.id === b.id) return 0
  return a.id < b.id ? 1 : -1
}
