import type { IncomingHttpHeaders } from 'node:http'
import { GazewayError } from '../../src/errors.ts'
import type { OwnKey } from '../../src/inference/upstreams/own-key.ts'
import { bearerToken } from './frame.ts'

/** A secret as it may stand in a header. A shorter one could not be told from words where errors are masked. */
const SECRET = /^[\x21-\x7e]{8,8192}$/

/** Headers by which the client of a plan proves it, beside `Authorization`. */
const OF_PLAN = ['authorization', 'chatgpt-account-id', 'user-agent']

/**
 * Reads the credential for the provider that a client sends beside the gateway's key: a key of its own as
 * `x-provider-key`. Where the gateway's key is `x-gazeway-key`, also as `x-api-key` or `x-goog-api-key`, or a person's plan as `Authorization`.
 *
 * @returns undefined where it sends none
 * @throws GazewayError `validation_failed`, which holds no part of it
 */
export function ownKeyOf(headers: IncomingHttpHeaders): OwnKey | undefined {
  if (headers['x-provider-key'] === undefined && headers['x-gazeway-key'] === undefined) return undefined
  const { 'x-gazeway-key': gatewayKey, authorization } = headers
  const isBeside = (secret: string | null | undefined) => gatewayKey !== undefined && secret !== gatewayKey
  // Agents send the API key of their configuration in the header of its provider.
  const ofAgent = (headers['x-api-key'] ?? headers['x-goog-api-key']) as string | undefined
  const key = headers['x-provider-key'] ?? (isBeside(ofAgent) ? ofAgent : undefined)
  const isPlan = authorization !== undefined && isBeside(bearerToken(authorization))
  if (key === undefined) return isPlan ? planIn(headers) : undefined
  if (isPlan)
    throw malformed('authorization', 'beside x-gazeway-key, send either it or a key for the provider, not both')
  if (typeof key !== 'string' || !SECRET.test(key))
    throw malformed('x-provider-key', 'must be one API key of the provider, of 8 or more visible characters')
  return { kind: 'own_key', secret: key, headers: {} }
}

function planIn(headers: IncomingHttpHeaders): OwnKey {
  const secret = bearerToken(headers.authorization) ?? ''
  if (!SECRET.test(secret)) throw malformed('authorization', 'beside x-gazeway-key, it must be "Bearer TOKEN"')
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
