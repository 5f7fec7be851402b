import * as z from 'zod'
import type { Session, SessionMessage } from '../sessions/session.ts'
import { localId } from '../text/remote-id.ts'

/** `source` of sessions of the agent gateway. */
export const UPSTREAM = 'upstream'

const text = z.string().nullish().catch(null)
const count = z.number().nullish().catch(null)
/** Unix seconds, or a time as text. */
const time = z
  .union([z.number(), z.string().transform((at) => Date.parse(at) / 1000)])
  .nullish()
  .catch(null)

/** A session of the agent gateway. Missing fields, and fields in another form, count as absent. */
export const RemoteSession = z.object({
  id: z.string().min(1).max(256),
  title: text,
  user_id: text,
  source: text,
  model: text,
  started_at: time,
  last_active: time,
  ended_at: time,
  end_reason: text,
  parent_session_id: text,
  message_count: count,
  tool_call_count: count,
  input_tokens: count,
  output_tokens: count,
  estimated_cost_usd: count,
  preview: text,
})

/** A message of the agent gateway. */
export const RemoteMessage = z.object({
  id: z.union([z.string(), z.number()]).nullish(),
  role: z.string().catch('assistant'),
  content: z.unknown(),
  timestamp: time,
  token_count: count,
})

/** Converts a session, with its local id. */
export function toSession(session: z.infer<typeof RemoteSession>): Session {
  const started = seconds(session.started_at) ?? 0
  return {
    id: localId(session.id),
    title: session.title ?? null,
    user_id: session.user_id ?? UPSTREAM,
    source: UPSTREAM,
    ...(session.source ? { upstream_source: session.source } : {}),
    model: session.model ?? null,
    started_at: started,
    last_active: seconds(session.last_active) ?? started,
    ended_at: seconds(session.ended_at),
    end_reason: session.end_reason ?? null,
    parent_session_id: session.parent_session_id ? localId(session.parent_session_id) : null,
    message_count: session.message_count ?? 0,
    tool_call_count: session.tool_call_count ?? 0,
    input_tokens: session.input_tokens ?? 0,
    output_tokens: session.output_tokens ?? 0,
    estimated_cost_usd: session.estimated_cost_usd ?? null,
    preview: session.preview ?? '',
  }
}

/** Converts the messages of the agent gateway's session `id`. */
export function toMessages(id: string, messages: readonly z.infer<typeof RemoteMessage>[]): SessionMessage[] {
  const session_id = localId(id)
  return messages.map((message, i) => ({
    id: localId(`${message.id ?? `${id}.${i}`}`),
    session_id,
    role: message.role,
    content: textOf(message.content),
    timestamp: seconds(message.timestamp) ?? 0,
    ...(message.token_count ? { token_count: Math.round(message.token_count) } : {}),
  }))
}

/** The text, or the text parts of the content; null without text, as for a tool call. */
function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return null
  const parts = content.flatMap((part: unknown) => {
    const text = typeof part === 'object' && part !== null && 'text' in part ? part.text : part
    return typeof text === 'string' ? [text] : []
  })
  return parts.length > 0 ? parts.join('\n') : null
}

const seconds = (at: number | null | undefined): number | null =>
  at === null || at === undefined || !Number.isFinite(at) ? null : at
