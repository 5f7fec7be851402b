import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { GazewayError } from '../../src/errors.ts'
import { isGeminiPath } from '../../src/inference/api/gemini-endpoints.ts'
import type { OwnKey } from '../../src/inference/upstreams/own-key.ts'
import { bearerToken, keyOf } from './frame.ts'

/** A secret as it may stand in a header. A shorter one could not be told from words where errors are masked. */
const SECRET = /^[\x21-\x7e]{8,8192}$/

/** A bearer token and nothing behind it, which no mask would know. */
const BEARER_ALONE = /^bearer +([\x21-\x7e]{8,8192})$/i

/** Headers by which the client of a plan proves it, beside `Authorization`. */
const OF_PLAN = ['authorization', 'chatgpt-account-id', 'user-agent']

/**
 * Reads the credential for the provider that a client sends beside the gateway's key: a key of its own as
 * `x-provider-key`. Where the gateway's key is `x-gazeway-key`, also where agents send the key of their configuration:
 * `x-api-key`, `x-goog-api-key` or the query of Google's API, or a person's plan as `Authorization`.
 *
 * @returns undefined where it sends none
 * @throws GazewayError `validation_failed`, which holds no part of it
 */
export function ownKeyOf({ headers, url = '' }: Pick<IncomingMessage, 'headers' | 'url'>): OwnKey | undefined {
  const { 'x-provider-key': provided, 'x-gazeway-key': gatewayKey, authorization } = headers
  if (provided === undefined && gatewayKey === undefined) return undefined
  const isBeside = (secret: unknown) => gatewayKey !== undefined && secret !== gatewayKey
  const [key, ...others] = new Set(provided === undefined ? ofAgent(headers, url).filter(isBeside) : [provided])
  const isPlan = authorization !== undefined && isBeside(bearerToken(authorization))
  if (key === undefined) return isPlan ? planIn(headers) : undefined
  if (isPlan)
    throw malformed('authorization', 'beside x-gazeway-key, send either it or a key for the provider, not both')
  if (typeof key !== 'string' || !SECRET.test(key) || others.length > 0)
    throw malformed('x-provider-key', 'must be one API key of the provider, of 8 or more visible characters')
  if (key === keyIn(headers, url))
    throw malformed('x-provider-key', 'is the key of the gateway, which no provider may learn; omit it')
  return { kind: 'own_key', secret: key, headers: {} }
}

/** Keys where an agent sends that of its provider. */
const ofAgent = (headers: IncomingHttpHeaders, url: string): unknown[] =>
  [headers['x-api-key'], headers['x-goog-api-key'], ...queryKeys(url)].filter((key) => key !== undefined)

/** Keys in the query of Google's API. */
function queryKeys(url: string): string[] {
  const [path = '', query] = url.split('?', 2)
  return query !== undefined && isGeminiPath(path) ? new URLSearchParams(query).getAll('key') : []
}

/** The key of the gateway in a request. */
const keyIn = (headers: IncomingHttpHeaders, url: string): string | undefined =>
  keyOf(headers, url.split('?', 1)[0] ?? '') ?? queryKeys(url)[0]

function planIn(headers: IncomingHttpHeaders): OwnKey {
  const [, secret] = BEARER_ALONE.exec(headers.authorization ?? '') ?? []
  if (secret === undefined) throw malformed('authorization', 'beside x-gazeway-key, it must be "Bearer TOKEN"')
  const passed = OF_PLAN.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : []))
  return { kind: 'own_plan', secret, headers: Object.fromEntries(passed) }
}

/** Error for a request with such a credential where none is used, so that it is not made with our key instead. */
export const ownKeyUnused = (where: string): GazewayError =>
  new GazewayError(
    'own_key_refused',
    `${where} takes no credential for the provider. Omit x-provider-key, and Authorization beside x-gazeway-key.`,
  )

const malformed = (param: string, what: string): GazewayError =>
  new GazewayError('validation_failed', `${param}: ${what}.`, { status: 400, param })
