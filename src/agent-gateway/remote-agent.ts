import type { Agent, AgentMessage, AgentReply } from '../agent/agent.ts'
import { createTurns, MESSAGE_TURNS } from '../agent/chat-turns.ts'
import { exchangeTensor } from '../agent/exchange-tensor.ts'
import { latestAttention } from '../agent/latest-attention.ts'
import { GazewayError } from '../errors.ts'
import type { Gaze } from '../gaze/gaze.ts'
import { readUsage } from '../providers/token-usage.ts'
import { newId } from '../text/ids.ts'
import { whyEnded } from '../wire/service-stopping.ts'
import type { Remote } from './agent-gateway.ts'
import { chatEvents } from './chat-events.ts'
import { createWatchdog } from './watchdog.ts'

/** Time that an agent gateway gets to end a stream after a complete answer, in milliseconds. */
const CLOSING_MS = 1_000

/** Answer of the agent gateway's agent. */
interface Answered {
  content: string
  usage: unknown
}

/**
 * Creates an agent that answers in this gateway's own sessions and forwards messages in sessions of the agent gateway.
 * There, the agent gateway's own agent answers one message at a time and stores the exchange. Only callers that see all
 * sessions may use those.
 *
 * @param deps.silenceMs longest silence of the agent gateway while it answers
 */
export function createRemoteAgent(deps: {
  own: Agent
  remote: Remote
  gaze: Gaze
  silenceMs: () => number
  now: () => Date
}): Agent {
  const { own, remote, gaze, silenceMs, now } = deps
  const turns = createTurns(MESSAGE_TURNS)

  async function pass(id: string, sessionId: string, message: AgentMessage): Promise<AgentReply> {
    const { content: asked } = message
    const message_id = newId('msg')
    const { content, usage } = await (message.onText ? stream : whole)(id, message, () =>
      message.onStart?.({ session_id: sessionId, message_id }),
    )
    remote.changed('sessions')
    const { records, poaScore } = await latestAttention(gaze, { sessionId, callerId: message.identity.id }, now())
    return {
      content,
      tensor: exchangeTensor([asked, content], records, now()),
      poa_score: poaScore,
      session_id: sessionId,
      message_id,
      usage: readUsage(usage) ?? { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
      cost_usd: 0,
    }
  }

  async function whole(id: string, { content, signal }: AgentMessage, onStart: () => void): Promise<Answered> {
    const { message, usage } = await remote.sessions.chat(id, { message: content }, { timeoutMs: silenceMs(), signal })
    onStart()
    return { content: message.content, usage }
  }

  async function stream(id: string, message: AgentMessage, onStart: () => void): Promise<Answered> {
    const watchdog = createWatchdog(message.signal, silenceMs())
    try {
      const body = await remote.sessions.chatStream(id, { message: message.content }, watchdog.signal)
      onStart()
      return await listen(body, message, watchdog.touch)
    } catch (error) {
      const { cancelled, reason, timedOut } = watchdog.ending()
      if (cancelled) throw whyEnded(reason, 'The caller disconnected.', error)
      if (timedOut)
        throw new GazewayError(
          'upstream_timeout',
          'The agent gateway stopped sending. Retry, or raise agent_gateway.timeout_ms.',
          { cause: error },
        )
      if (error instanceof GazewayError) throw error
      throw new GazewayError('upstream_error', 'The agent gateway disconnected before the end of its answer. Retry.', {
        cause: error,
      })
    } finally {
      watchdog.stop()
    }
  }

  return {
    async chat(message) {
      const { sessionId, identity } = message
      const id = sessionId === null || !identity.scopes.has('admin') ? null : remote.idOf(sessionId)
      if (id === null || sessionId === null) return own.chat(message)
      return turns.run(id, message.signal, () => pass(id, sessionId, message))
    },
  }
}

/**
 * Reads an answer to its end: the event `done`, or shortly after a complete answer if the connection stays open.
 *
 * @throws GazewayError `upstream_error` when the agent gateway reports an error; `upstream_bad_reply` when the answer
 *   is incomplete
 */
async function listen(
  stream: ReadableStream<Uint8Array>,
  { onText }: AgentMessage,
  touch: () => void,
): Promise<Answered> {
  const reader = stream.getReader()
  let content: string | null = null
  let usage: unknown
  let isOver = false
  let closing: NodeJS.Timeout | undefined
  try {
    for await (const { name, data } of chatEvents(chunksOf(reader, touch))) {
      if (name === 'assistant.delta' && typeof data.delta === 'string') onText?.(data.delta)
      if (name === 'assistant.completed' && typeof data.content === 'string') content = data.content
      if (name === 'run.completed') {
        usage = data.usage
        isOver = true
      }
      if (name === 'error') throw new GazewayError('upstream_error', 'The agent at the agent gateway failed. Retry.')
      if (name === 'done') break
      // Ends the stream on this side.
      if (isOver && content !== null) closing ??= setTimeout(() => void reader.cancel(), CLOSING_MS)
    }
  } finally {
    clearTimeout(closing)
  }
  if (content !== null) return { content, usage }
  throw new GazewayError('upstream_bad_reply', 'The agent gateway’s answer is incomplete.')
}

async function* chunksOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  touch: () => void,
): AsyncGenerator<Uint8Array, void> {
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      touch()
      yield value
    }
  } finally {
    await reader.cancel()
  }
}
