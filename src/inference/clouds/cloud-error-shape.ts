import { isObject, parseJson } from '../../text/json.ts'
import { fieldsOrNone, isText } from '../../text/lenient-reader.ts'
import type { Provider } from '../upstreams/provider.ts'
import type { CloudError } from './cloud.ts'

/** Types of errors in Messages, by status. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** Type of an error in Messages for a status. */
const typeOfStatus = (status: number): string => TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')

/**
 * Writes an error of a cloud as the API of its upstream does. Google sends one in a list, AWS a bare message.
 *
 * @param code name of the error, where its headers have it
 */
export function shapedError(error: CloudError, protocol: Provider['protocol'], code: string | null): CloudError {
  const parsed = parseJson(error.text)
  const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed
  if (isObject(body) && body.type === 'error') return error
  const { error: inner, message: bare, Message: other } = fieldsOrNone(body)
  const own = fieldsOrNone(inner)
  const message = [own.message, bare, other].find(isText) ?? error.text
  const name = [code, own.status].find(isText) ?? null
  const type = typeOfStatus(error.status)
  const shaped =
    protocol === 'anthropic'
      ? { type: 'error', error: { type, message } }
      : { error: { message, type, code: name, param: null } }
  return { ...error, text: JSON.stringify(shaped) }
}
