import type { CallContext } from '../../calls/call-record.ts'
import { GazewayError } from '../../errors.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import { chatText } from '../observe/chat-text.ts'
import type { NamedUpstream } from '../upstreams/named-upstream.ts'
import { type DirectCallDeps, directCall } from '../verbatim/direct-call.ts'

/** Token limit. The expected answer is one word. */
const MAX_TOKENS = 16
const QUESTION = [{ role: 'user', content: 'Answer with the word ok.' }]

/** Result of a test. */
export interface TestedCandidate {
  ok: boolean
  /** Status of the upstream. Null without a reply. */
  status: number | null
  latency_ms: number
  /** Text of the model, or the error. */
  text: string
  call_id: string | null
}

/**
 * Asks a model at one upstream for a word, bypassing all routes. Tests that the upstream is reachable, accepts its key
 * and has the model. Recorded and billed like any call.
 *
 * @param model name at the upstream
 */
export async function testCandidate(
  deps: DirectCallDeps,
  upstream: NamedUpstream,
  model: string,
  context: CallContext,
): Promise<TestedCandidate> {
  const isMessages = upstream.provider.protocol === 'anthropic'
  const path = isMessages ? '/messages' : '/chat/completions'
  // OpenAI's reasoning models reject `max_tokens`.
  const body = { model, messages: QUESTION, ...(isMessages && { max_tokens: MAX_TOKENS }) }
  const started = performance.now()
  const latency = () => Math.round(performance.now() - started)
  try {
    const request = { method: 'POST' as const, path, body }
    const {
      status,
      body: reply,
      call_id,
    } = await directCall({ ...deps, only: upstream, allowedPaths: [path] }, request, context)
    return { ok: status < 300, status, latency_ms: latency(), text: textOf(reply), call_id }
  } catch (error) {
    if (!(error instanceof GazewayError)) throw error
    return { ok: false, status: null, latency_ms: latency(), text: error.message, call_id: error.callId ?? null }
  }
}

function textOf(reply: unknown): string {
  const { choices, content, error, message } = fieldsOrNone(reply)
  const [first] = objectsOrNone(choices)
  const text = first === undefined ? chatText(content) : chatText(fieldsOrNone(first.message).content)
  const fault = fieldsOrNone(error).message ?? message
  return (text || (typeof fault === 'string' ? fault : '')).slice(0, 500)
}
