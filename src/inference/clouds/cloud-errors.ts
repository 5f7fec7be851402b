import { cut } from '../../text/cut.ts'
import { isObject, parseJson } from '../../text/json.ts'
import { isText } from '../../text/lenient-reader.ts'
import { hideSecrets } from '../upstreams/failure.ts'
import type { Cloud, CloudError } from './cloud.ts'

/** Letters that are told of an error which is longer than what is read of one. */
const LONGEST_TOLD = 1000
/** Values of headers that are shorter are no secrets. */
const SHORTEST_SECRET = 8

/**
 * An error with what to do about it in its message, and without the credentials of its request.
 *
 * @param sent headers that authorized the request
 */
export function advisedError(
  error: CloudError,
  { advice, shapeError }: Pick<Cloud, 'advice' | 'shapeError'>,
  sent: Readonly<Record<string, string>>,
): CloudError {
  const secrets = Object.values(sent)
    .flatMap((value) => [value, value.replace(/^Bearer /, '')])
    .filter((value) => value.length >= SHORTEST_SECRET)
  const masked = hideSecrets(error.text, secrets)
  // The end of a text that was cut may have a part of a secret.
  const hidden = { ...error, text: error.isCut === true ? cut(masked, 0, LONGEST_TOLD) : masked }
  const shaped = shapeError?.(hidden) ?? hidden
  const todo = advice(hidden)
  return todo === null ? shaped : { ...shaped, text: withAdvice(shaped.text, todo) }
}

/** Adds a sentence to the message of an error, wherever it stands. */
function withAdvice(text: string, todo: string): string {
  const parsed = parseJson(text)
  const body = isObject(parsed) ? parsed : { error: { message: text } }
  const holder = isObject(body.error) ? body.error : body
  const message = isText(holder.message) ? holder.message.trim() : 'It gave no reason.'
  holder.message = `${message}${/[.!?]$/.test(message) ? '' : '.'} ${todo}`
  return JSON.stringify(body)
}
