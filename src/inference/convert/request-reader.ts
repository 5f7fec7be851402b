import { GazewayError } from '../../errors.ts'
import { createTypedReader, type TypedReader } from '../../text/typed-reader.ts'
import { exactJson } from './exact-json.ts'

const inexpressible = new WeakSet<object>()

/**
 * Error for a request with a part that the protocol of its upstream cannot express. Lenient requests lose the part.
 *
 * @param param the field, dotted
 * @param why reason, without the full stop
 */
export function unsupported(param: string, why: string): GazewayError {
  const error = refused(param, `${why}. With x-gazeway-lenient: true it is dropped`)
  inexpressible.add(error)
  return error
}

/** Error for a field of a request that has a wrong type. */
export const wrongType = (param: string, expected: string): GazewayError => refused(param, `must be ${expected}`)

/** The same error of a field, which the client has by another name. */
export function renamed(error: GazewayError, param: string): GazewayError {
  if (error.param === null || error.param === param) return error
  const { code, message, status } = error
  const told = message.startsWith(error.param) ? param + message.slice(error.param.length) : message
  return new GazewayError(code, told, { status, param })
}

/** Tells whether an error is that of {@link unsupported}. */
export const isInexpressible = (error: GazewayError): boolean => inexpressible.has(error)

const refused = (param: string, why: string): GazewayError =>
  new GazewayError('invalid_request', `${param}: ${why}. No request was made.`, { param })

/** Reads the requests of clients. A wrong type is an error of the client: `invalid_request` with the path of the field. */
export const read: TypedReader = createTypedReader(wrongType)

/**
 * Reads the content of a message: a text, or a list of parts.
 *
 * @returns the text, or the parts; no parts when it is absent
 */
export function readContent(content: unknown, path: string): string | ReturnType<TypedReader['objects']> {
  if (typeof content === 'string') return content
  if (content !== undefined && content !== null && !Array.isArray(content))
    throw wrongType(path, 'text or a list of parts')
  return read.objects(content, path)
}

/** A value as text: strings unchanged, any other as JSON. Empty when it is absent. */
export function textOrJson(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : exactJson(value)
}
