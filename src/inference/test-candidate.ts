import type { CallContext } from '../calls/call-record.ts'
import { GazewayError } from '../errors.ts'
import { record, records } from './convert/loose.ts'
import { chatText } from './convert/response-items.ts'
import type { NamedUpstream } from './named-upstream.ts'
import { type PassthroughDeps, passThrough } from './passthrough.ts'

/** The answer that is wanted is a word. */
const MOST_TOKENS = 16
const QUESTION = [{ role: 'user', content: 'Answer with the word ok.' }]

/** What came of a test. */
export interface TestedCandidate {
  ok: boolean
  /** The upstream's; null where it did not answer. */
  status: number | null
  latency_ms: number
  /** What the model said, or what went wrong. */
  text: string
  call_id: string | null
}

/**
 * Asks a model at one upstream for a word, past all routes: whether it can be reached, takes its key and has the model. It is
 * a call as any other: recorded, and billed.
 *
 * @param model by its name there
 */
export async function testCandidate(
  deps: PassthroughDeps,
  upstream: NamedUpstream,
  model: string,
  context: CallContext,
): Promise<TestedCandidate> {
  const isMessages = upstream.provider.protocol === 'anthropic'
  const path = isMessages ? '/messages' : '/chat/completions'
  // OpenAI's models that reason refuse the usual limit.
  const body = { model, messages: QUESTION, ...(isMessages && { max_tokens: MOST_TOKENS }) }
  const started = performance.now()
  const latency = () => Math.round(performance.now() - started)
  try {
    const request = { method: 'POST' as const, path, body }
    const {
      status,
      body: reply,
      call_id,
    } = await passThrough({ ...deps, only: upstream, allowedPaths: [path] }, request, context)
    return { ok: status < 300, status, latency_ms: latency(), text: textOf(reply), call_id }
  } catch (error) {
    if (!(error instanceof GazewayError)) throw error
    return { ok: false, status: null, latency_ms: latency(), text: error.message, call_id: error.callId ?? null }
  }
}

function textOf(reply: unknown): string {
  const { choices, content, error, message } = record(reply)
  const [first] = records(choices)
  const said = first === undefined ? chatText(content) : chatText(record(first.message).content)
  const fault = record(error).message ?? message
  return (said || (typeof fault === 'string' ? fault : '')).slice(0, 500)
}
