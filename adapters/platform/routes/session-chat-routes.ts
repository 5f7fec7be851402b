import * as z from 'zod'
import type { Agent, AgentMessage, AgentReply } from '../../../src/agent/agent.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { Usage } from '../../../src/providers/token-usage.ts'
import { MessageText } from '../../../src/sessions/sessions.ts'
import { explain, LIST_LIMIT } from '../../../src/wire/validation.ts'
import { callerOf, type FrameContext } from '../../web/frame-context.ts'
import { ALREADY_SENT } from '../../web/http-receiver.ts'
import { callContext } from '../call-context.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { createSessionEvents, type SessionEvents } from '../session-events.ts'
import { SessionPath } from './sessions-routes.ts'

/** A user's message, as text or as text parts. */
const Said = z
  .union([
    MessageText,
    z
      .array(z.object({ type: z.enum(['text', 'input_text']), text: z.string() }))
      .max(LIST_LIMIT)
      .min(1)
      .transform((parts) => parts.map(({ text }) => text).join('\n'))
      .pipe(MessageText),
  ])
  .meta({ accepted: 'text of at most 256 KiB, or a list of parts {"type": "text", "text": …}' })

const Chat = z
  .object({
    message: Said.optional(),
    input: Said.optional(),
    user: z
      .string()
      .regex(/^[^\p{Cc}\p{Surrogate}]{1,100}$/u)
      .optional(),
  })
  .refine(({ message, input }) => message !== undefined || input !== undefined, {
    path: ['message'],
    error: 'missing',
  })

/**
 * Schema of the body for the documentation. `readChat` validates the body, with the error status that frontends expect.
 */
const ChatBody = z.object({
  message: z.unknown().optional().meta({ type: 'string' }).describe('The message, at most 256 KiB.'),
  input: z.unknown().optional().meta({ type: 'string' }).describe('The same as `message`.'),
  user: z.unknown().optional().meta({ type: 'string' }).describe('Name of the speaker, shown to the agent.'),
})

const ChatReply = z.object({
  object: z.literal('session.chat.completion'),
  session_id: z.string(),
  message_id: z.string(),
  message: z.object({ id: z.string(), role: z.literal('assistant'), content: z.string() }),
  content: z.string(),
  tensor: z.string().describe('The exchange and the latest gaze, classified: COG:0.62/EMO:0.14/ENV:0.24'),
  poa_score: z.number().describe('The current attestation score, 0 to 1; 0 without gaze data.'),
  usage: Usage,
  cost_usd: z.number().describe('Upstream cost of the call, without the margin.'),
})

/**
 * Routes of chats with the agent.
 *
 * @param agent the gateway's own agent, or an upstream's for its own sessions
 * @param stopping aborted shortly before shutdown ends pending work
 */
export const sessionChatRoutes = (gateway: Pick<Gateway, 'loaded'>, agent: Agent, stopping: AbortSignal): Route[] => [
  defineRoute('POST /api/sessions/{id}/chat', {
    operation: 'chat',
    summary: 'Send a message and wait for the answer',
    access: 'platform',
    params: SessionPath,
    body: ChatBody,
    reply: ChatReply,
    idempotent: true,
    async run({ params, body, c, keep }) {
      const message = messageOf(params.id, body, c, stopping)
      return completion(await agent.chat({ ...message, keep: keep && ((trx, reply) => keep(trx, completion(reply))) }))
    },
  }),
  defineRoute('POST /api/sessions/{id}/chat/stream', {
    operation: 'streamChat',
    summary: 'Send a message and stream the answer',
    description:
      'Server-sent events by name: run.started, message.started, assistant.delta {delta}, assistant.completed {content}, ' +
      'run.completed {usage}, or error; done at the end.',
    access: 'platform',
    params: SessionPath,
    body: ChatBody,
    reply: z.string(),
    alsoAnswers: ['text/event-stream'],
    async run({ params, body, c }) {
      if (c.req.header('idempotency-key') !== undefined)
        throw new GazewayError(
          'validation_failed',
          'Idempotency-Key: streams cannot be replayed; omit the header, or use /chat.',
          { param: 'Idempotency-Key' },
        )
      const events = createSessionEvents(c, gateway.loaded.config.upstream.timeout_ms)
      return streamChat(agent, messageOf(params.id, body, c, stopping), events)
    },
  }),
]

function completion(reply: AgentReply) {
  const { content, message_id: id } = reply
  const message = { id, role: 'assistant' as const, content }
  return { object: 'session.chat.completion' as const, ...reply, message }
}

/** Builds the agent's message from a request. Its signal aborts as in {@link callContext}. */
function messageOf(sessionId: string, body: unknown, c: FrameContext, stopping: AbortSignal): AgentMessage {
  const identity = callerOf(c)
  const { surface, address, traceparent, signal } = callContext(c, identity.id, stopping)
  return { sessionId, ...readChat(body), identity, surface, address, traceparent, signal }
}

/** @throws GazewayError `invalid_request` with the field at fault */
function readChat(body: unknown): { content: string; user: string | null } {
  const { data, error } = Chat.safeParse(body)
  const content = data?.message ?? data?.input
  if (content !== undefined) return { content, user: data?.user ?? null }
  const refused = error && explain(error, Chat, body)
  throw new GazewayError('invalid_request', refused?.message ?? 'message: missing.', {
    param: refused?.param ?? 'message',
  })
}

/**
 * Answers with events. An error before the first event has its own status; a later error is an event.
 *
 * @throws GazewayError as `agent.chat` before its answer begins
 */
async function streamChat(agent: Agent, message: AgentMessage, events: SessionEvents): Promise<Response> {
  try {
    const { content, usage, ...reply } = await agent.chat({
      ...message,
      onStart({ session_id, message_id: id }) {
        events.open(session_id)
        events.send('run.started', { user_message: { role: 'user', content: message.content } })
        events.send('message.started', { message: { id, role: 'assistant' } })
      },
      onText: (delta) => events.send('assistant.delta', { delta }),
    })
    events.send('assistant.completed', { ...reply, content, completed: true })
    events.send('run.completed', { ...reply, usage, completed: true })
  } catch (error) {
    // The common error handler logs an error of Gazeway itself, and ends the connection.
    if (!events.isOpen() || !(error instanceof GazewayError)) throw error
    events.fail(error)
  } finally {
    events.end()
  }
  return ALREADY_SENT
}
