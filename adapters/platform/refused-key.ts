import { GazewayError } from '../../src/errors.ts'
import { hideSecrets } from '../../src/inference/failure.ts'
import { cut } from '../../src/text/cut.ts'
import { parseJson } from '../../src/text/json.ts'

/** As much of a refusal is read, in bytes. */
const MOST_BYTES = 16 * 1024
/** As much of what it says is told, in characters. */
const MOST_SAID = 500

/** The agent gateway's refusal of the platform's own key, as it comes in. */
export interface RefusedKey {
  /** Some of it has come. */
  saw(chunk: Buffer): void
  /**
   * What the caller is told once it is over. Passed on as it is, it would blame the caller's key, which is a good one: it
   * is between the agent gateway and the operator.
   */
  error(): GazewayError
}

/** @param key what was refused; null where none was sent */
export function refusedKey(key: string | null): RefusedKey {
  const chunks: Buffer[] = []
  let size = 0
  return {
    saw(chunk) {
      if (size < MOST_BYTES) chunks.push(chunk)
      size += chunk.length
    },
    error() {
      const words = saidIn(parseJson(Buffer.concat(chunks).toString()))
      const said = cut(hideSecrets(words, key === null ? [] : [key]), 0, MOST_SAID)
      const answered = `The agent gateway answered 401${said && `: ${said}`}`.replace(/\.?$/, '.')
      return new GazewayError(
        'upstream_error',
        `${answered} That is the platform's key for it, not yours: ${key === null ? 'set' : 'check'} GAZEWAY_AGENT_GATEWAY_KEY.`,
      )
    },
  }
}

/** What a refusal says, in OpenAI's form; nothing where it has another. */
function saidIn(body: unknown): string {
  const { error } = Object(body) as { error?: unknown }
  const { message } = Object(error) as { message?: unknown }
  return typeof message === 'string' ? message : ''
}
