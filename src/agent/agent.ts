import type { Surface } from '../calls/call-record.ts'
import { NO_SESSION } from '../calls/call-session.ts'
import type { LiveConfig } from '../config/live-config.ts'
import { redactText } from '../config/redact.ts'
import { GazewayError } from '../errors.ts'
import type { Gaze } from '../gaze/gaze.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import type { Identity } from '../identity/identity.ts'
import type { Keys } from '../identity/keys.ts'
import type { ChatResult, Upstream } from '../inference/inference.ts'
import { countLong } from '../inference/observe/estimate.ts'
import { type Memories, type MemoryOwner, memoryOwner } from '../memory/memory.ts'
import { asUpstreamFailure } from '../metering/ask-model.ts'
import type { Usage } from '../providers/token-usage.ts'
import { MAX_MESSAGE_BYTES, OwnSessionId, type Sessions } from '../sessions/sessions.ts'
import { newId } from '../text/ids.ts'
import { toMicros } from '../text/money.ts'
import { historyWithin } from './chat-history.ts'
import { createTurns, MESSAGE_TURNS } from './chat-turns.ts'
import { exchangeTensor } from './exchange-tensor.ts'
import { latestAttention } from './latest-attention.ts'
import { systemPrompt } from './system-prompt.ts'

/** Token budgets of a prompt: conversation history, and other known context. */
export const AGENT_BUDGET = { history: 12_000, context: 2_000 } as const
/** Maximum number of memories in a prompt. */
const MEMORIES = 8
/** Characters of a message that are used to search memories. */
const SEARCHED_CHARACTERS = 1_000

/** A message to the agent. */
export interface AgentMessage {
  /** The session to continue; null starts one. */
  sessionId: string | null
  /** Creates the session with the first exchange if `sessionId` is unknown. */
  createIfMissing?: boolean
  /** Name given by the user, if any, sent to the model and stored with the message. */
  user?: string | null
  /** 1 byte to 256 KiB of well-formed text without NUL: see `MessageText`. */
  content: string
  /** Identity of the key: owner of the sessions and of the call record. */
  identity: Pick<Identity, 'id' | 'scopes'>
  surface: Surface
  /** Address of the client. */
  address?: string | null | undefined
  /** Aborted when the client disconnects. The upstream is then stopped at once and nothing is stored. */
  signal?: AbortSignal | undefined
  traceparent?: string | undefined
  /** Called once, when the message is accepted and before it waits for its turn. */
  onStart?: ((started: { session_id: string; message_id: string }) => void) | undefined
  /** Called with the answer in the transaction that stores the exchange; not for exchanges stored elsewhere. */
  keep?: Keep<AgentReply> | undefined
  /** Called with each piece of the answer. When set, the upstream streams. */
  onText?: ((delta: string) => void) | undefined
}

/** The agent's answer. Its exchange is already stored in the session. */
export interface AgentReply {
  content: string
  /** Classification of the exchange and the latest gaze: COG:0.62/EMO:0.14/ENV:0.24 */
  tensor: string
  /** The current attestation score of the gaze, 0 to 1; 0 without gaze data. */
  poa_score: number
  session_id: string
  /** The answer's id. */
  message_id: string
  usage: Usage
  /** Upstream cost of the call in US dollars. */
  cost_usd: number
}

interface Target {
  id: string
  user_id: string
  /** Null for the configured chat model. */
  model: string | null
  isNew: boolean
}

/** The ids of a message and of its answer. */
interface ExchangeIds {
  question: string
  answer: string
}

/** The agent that answers chat messages. */
export interface Agent {
  /**
   * Answers a message with the chat model. The prompt has:
   * - the session's history
   * - matching memories of the session's owner, those of no project and of writers that it trusts
   * - the caller's latest gaze
   *
   * Messages of one session are answered one after the other, and those of a key in order of arrival. Message and
   * answer are stored together once the answer is complete. On a failure or disconnect the session stays unchanged.
   *
   * The agent has no tools, and its prompt contains no configuration and no key: an answer is only text.
   *
   * @throws GazewayError
   * - `not_found` for an unknown session or one of another user
   * - `rate_limited` and `session_busy` as `createTurns`
   * - `upstream_not_configured`, `cancelled`, `service_stopping`
   * - errors of the upstream: 502, or 504 on a timeout
   */
  chat(message: AgentMessage): Promise<AgentReply>
}

interface AgentDeps {
  sessions: Sessions
  memory: Pick<Memories, 'of'>
  keys: Pick<Keys, 'find'>
  gaze: Gaze
  upstream: Pick<Upstream, 'chat' | 'requireKey'>
  countTokens: (text: string) => Promise<number>
  /** Its secrets are removed from the context of the prompt. */
  config: Pick<LiveConfig, 'current'>
  now: () => Date
}

/** Creates the agent. */
export function createAgent(deps: AgentDeps): Agent {
  const { sessions, upstream, now } = deps
  const turns = createTurns(MESSAGE_TURNS)
  /** Keeps the order of arrival of messages, even if the store answers concurrent lookups in another order. */
  const admissions = createTurns({ ...MESSAGE_TURNS, maxWaiting: Number.POSITIVE_INFINITY })

  /** Answers a message whose turn has come, and stores both. */
  async function answer(message: AgentMessage, accepted: Target, ids: ExchangeIds): Promise<AgentReply> {
    // Earlier messages may have created the session, or another request may have deleted it.
    const session = await target(sessions, { ...message, sessionId: accepted.id, createIfMissing: accepted.isNew })
    const at = now().toISOString()
    const prompt = await promptFor(deps, message, session)
    const result = await ask(upstream, message, session, prompt.messages)
    const { poaScore, records } = prompt.attention
    const content = textOf(result)
    const tensor = exchangeTensor([message.content, content], records, now())
    const usage = result.usage ?? { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
    const reply = {
      content,
      tensor,
      poa_score: poaScore,
      session_id: session.id,
      message_id: ids.answer,
      usage,
      cost_usd: result.costUsd,
    }
    const count = counter(deps)
    const exchange = {
      session: { id: session.id, user_id: session.user_id },
      create: session.isNew ? { source: message.surface, model: null } : null,
      user: {
        id: ids.question,
        content: message.content,
        name: message.user ?? null,
        tokens: await count(message.content),
        at,
      },
      assistant: { id: ids.answer, content, tokens: await count(content), tensor, poaScore, callId: result.callId },
      usage: { input: usage.prompt_tokens, output: usage.completion_tokens },
      costMicros: toMicros(result.costUsd) ?? 0,
    }
    await sessions.addExchange(exchange, async (trx) => message.keep?.(trx, reply))
    return reply
  }

  return {
    async chat(message) {
      const { sessionId, identity, signal } = message
      const found = target(sessions, message)
      // The error is received where the result is awaited, unless the client has disconnected by then.
      found.catch(() => {})
      const turn = await admissions.run(`${identity.id} ${sessionId}`, signal, async () => {
        const accepted = await found
        upstream.requireKey(accepted.model ?? undefined, 'chat')
        // The question's id comes first, as ids sort by time.
        const ids = { question: newId('msg'), answer: newId('msg') }
        message.onStart?.({ session_id: accepted.id, message_id: ids.answer })
        return { reply: turns.run(accepted.id, signal, () => answer(message, accepted, ids)) }
      })
      return turn.reply
    },
  }
}

/** Finds the session of a message. `isNew`: it is created with its first exchange. */
async function target(
  sessions: Pick<Sessions, 'find'>,
  { sessionId, createIfMissing = false, identity }: AgentMessage,
): Promise<Target> {
  const found = sessionId === null ? null : await sessions.find(sessionId)
  if (found !== null && (found.user_id === identity.id || identity.scopes.has('admin')))
    return { ...found, isNew: false }
  const mayBeMade = found === null && createIfMissing && OwnSessionId.safeParse(sessionId).success
  if (sessionId !== null && !mayBeMade)
    throw new GazewayError('not_found', `There is no session ${sessionId}.`, { param: 'session_id' })
  return { id: sessionId ?? newId('ses'), user_id: identity.id, model: null, isNew: true }
}

/** Builds the prompt of a message: what is known, the history and the message. */
async function promptFor(
  deps: AgentDeps,
  { content, user = null, identity, surface, address, traceparent }: AgentMessage,
  { id, user_id, isNew }: Target,
) {
  const { sessions, memory, gaze, config, now } = deps
  // The owner of the session can read the answer, so the memories are the owner's.
  const owner = user_id === identity.id ? memoryOwner(identity) : await memoriesOf(deps.keys, user_id)
  const query = content.slice(0, SEARCHED_CHARACTERS)
  const [history, found, attention] = await Promise.all([
    isNew ? [] : historyWithin(sessions.newest(id), AGENT_BUDGET.history),
    memory
      .of(owner, user_id)
      .related({ query, limit: MEMORIES }, { surface, callerId: identity.id, address, traceparent }),
    latestAttention(gaze, { sessionId: id, callerId: identity.id }, now()),
  ])
  const known = { speaker: user, memories: found.results.map((result) => result.memory), gaze: attention.records }
  const system = await systemPrompt(known, AGENT_BUDGET.context, {
    countTokens: counter(deps),
    hide: (text) => redactText(text, config.current().secrets),
  })
  const messages = [{ role: 'system' as const, content: system }, ...history, { role: 'user' as const, content }]
  return { messages, attention }
}

async function memoriesOf(keys: Pick<Keys, 'find'>, keyId: string): Promise<MemoryOwner> {
  const key = await keys.find(keyId)
  return key === null ? keyId : memoryOwner(key)
}

/** Asks the session's model, or the configured one. @throws GazewayError as {@link Agent.chat} */
async function ask(
  upstream: Pick<Upstream, 'chat'>,
  message: AgentMessage,
  { id, model }: Pick<Target, 'id' | 'model'>,
  messages: Parameters<Upstream['chat']>[0]['messages'],
): Promise<ChatResult> {
  const { identity, surface, address, traceparent } = message
  const limited = limitedText(message)
  const session = { ...NO_SESSION, session_id: id }
  try {
    return await upstream.chat(
      { messages, ...(model === null ? {} : { model }) },
      { surface, callerId: identity.id, address, session, traceparent, signal: limited.signal, onText: limited.onText },
    )
  } catch (error) {
    throw limited.isOver() ? tooLong(error) : asUpstreamFailure(error)
  }
}

const counter =
  ({ countTokens }: Pick<AgentDeps, 'countTokens'>) =>
  (text: string) =>
    countLong(countTokens, text)

/** Forwards the pieces of an answer. Ends the call when they exceed the size limit of a message. */
function limitedText({ signal, onText }: AgentMessage) {
  const tooMuch = new AbortController()
  let bytes = 0
  return {
    isOver: () => tooMuch.signal.aborted,
    signal: signal === undefined ? tooMuch.signal : AbortSignal.any([signal, tooMuch.signal]),
    onText:
      onText &&
      ((delta: string) => {
        bytes += Buffer.byteLength(delta)
        if (bytes > MAX_MESSAGE_BYTES) tooMuch.abort()
        else onText(delta)
      }),
  }
}

/** The whole text of the model's answer, in a form that both engines can store. */
function textOf({ value }: ChatResult): string {
  const message = value.choices[0]?.message
  const text = (message?.content || message?.refusal || '').replace(/\0|\p{Surrogate}/gu, '\ufffd')
  if (text === '')
    throw new GazewayError('upstream_bad_reply', 'The model answered without text. Retry, or rephrase the question.')
  if (Buffer.byteLength(text) > MAX_MESSAGE_BYTES) throw tooLong()
  return text
}

function tooLong(cause?: unknown): GazewayError {
  return new GazewayError(
    'upstream_bad_reply',
    `The model answered more than ${MAX_MESSAGE_BYTES / 1024} KiB, the limit of a message. Request less at a time.`,
    { cause },
  )
}
