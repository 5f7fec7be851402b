import { GazewayError } from '../../src/errors.ts'
import { hideSecrets } from '../../src/inference/upstreams/failure.ts'
import { cut } from '../../src/text/cut.ts'
import { parseJson } from '../../src/text/json.ts'

/** Maximum number of bytes read of a refusal. */
const MAX_BYTES = 16 * 1024
/** Maximum length of its message for the caller, in characters. */
const MAX_CHARACTERS = 500

/** Collects the agent gateway's refusal of the platform's own key. */
export interface RefusedKey {
  /** Called with each chunk of the refusal. */
  observe(chunk: Buffer): void
  /** Error for the caller. The original would blame the caller's key, but the refused key is the operator's. */
  error(): GazewayError
}

/** @param key the refused key; null when none was sent */
export function refusedKey(key: string | null): RefusedKey {
  const chunks: Buffer[] = []
  let size = 0
  return {
    observe(chunk) {
      if (size < MAX_BYTES) chunks.push(chunk)
      size += chunk.length
    },
    error() {
      const words = messageIn(parseJson(Buffer.concat(chunks).toString()))
      const message = cut(hideSecrets(words, key === null ? [] : [key]), 0, MAX_CHARACTERS)
      const answered = `The agent gateway answered 401${message && `: ${message}`}`.replace(/\.?$/, '.')
      return new GazewayError(
        'upstream_error',
        `${answered} It refused the platform's own key, not yours: ${key === null ? 'set' : 'check'} GAZEWAY_AGENT_GATEWAY_KEY.`,
      )
    },
  }
}

/** Message of a refusal in OpenAI's form, if it has that form. */
function messageIn(body: unknown): string {
  const { error } = Object(body) as { error?: unknown }
  const { message } = Object(error) as { message?: unknown }
  return typeof message === 'string' ? message : ''
}
