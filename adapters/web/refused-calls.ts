import type { IncomingMessage } from 'node:http'
import type { Surface } from '../../src/calls/call-record.ts'
import { tagsIn } from '../../src/calls/call-tags.ts'
import type { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import { CALL_PATHS } from '../../src/inference/api/endpoints.ts'
import { geminiEndpoint, geminiModel, isGeminiPath } from '../../src/inference/api/gemini-endpoints.ts'
import { sessionOf } from '../../src/inference/session/session.ts'
import { askedModel } from './asked-model.ts'
import { addressOf } from './client-address.ts'
import { keyOf } from './frame.ts'

/** Statuses that refuse a caller: no key, no money, no permission, too many requests. */
const REFUSING = new Set([401, 402, 403, 429])

/** Tells whether an error refuses the caller rather than the request. An upstream's refusal has its own record. */
export const refusesCaller = ({ status, callId, isNoted, code }: GazewayError): boolean =>
  REFUSING.has(status) && callId === undefined && !isNoted && code !== 'upstream_error'

/** Endpoints below `/v1` with their own label; all others share one, as clients may name any path. */
const ENDPOINTS: ReadonlyArray<[path: RegExp, name: string]> = ['/models', ...CALL_PATHS].map((path) => [
  new RegExp(`^/v1${path.replace(/\{\w+\}/, '[^/]+')}$`),
  `/v1${path}`,
])
/** Routes of the platform that call a model, with their labels. */
const ROUTES: ReadonlyArray<[path: RegExp, name: string]> = [
  [/^\/api\/wallet\/metered\/call$/, '/api/wallet/metered/call'],
  [/^\/api\/sessions\/[^/]+\/chat(?:\/stream)?$/, '/api/sessions/{id}/chat'],
  [/^\/api\/tasks\/swarm$/, '/api/tasks/swarm'],
  [/^\/api\/gaze\/analyze$/, '/api/gaze/analyze'],
  [/^\/api\/upstreams\/[^/]+\/test$/, '/api/upstreams/{name}/test'],
]

/** A request that ended in an error. */
export interface FailedRequest {
  incoming: IncomingMessage
  /** Without the query. */
  path: string
  requestId: string | null
  /** Id of the caller's key. */
  callerId: string | null
}

/**
 * Records a refused request if it would have called a model.
 *
 * @returns a promise only when the model is read from the request's body
 */
export type OnRefused = (error: GazewayError, request: FailedRequest) => void | Promise<void>

/**
 * Records refused calls of a service in the audit trail. A request without credentials that is offered a payment is not
 * refused yet.
 */
export function refusedCalls({ noteRefusal }: Pick<Gateway, 'noteRefusal'>, surface: Surface): OnRefused {
  return (error, { incoming, path, callerId }) => {
    if (!refusesCaller(error)) return
    const { headers } = incoming
    const isOffer = error.code === 'payment_required' && headers.authorization === undefined
    if (isOffer && keyOf(headers, path) === null) return
    const called = callPath(path)
    if (called === null) return
    const requestedModel = async () => geminiModel(path) ?? (await askedModel(incoming, callerId))
    const session = sessionOf(headers)
    return noteRefusal({
      surface,
      callerId,
      address: addressOf(incoming),
      session,
      tags: tagsIn(headers['x-gazeway-tags']),
      path: called,
      requestedModel,
      error,
    })
  }
}

/** Returns the route of a request that calls a model; null for any other. */
export function callPath(path: string): string | null {
  if (isGeminiPath(path)) return `/v1${geminiEndpoint(path) ?? '/models'}`
  if (path.startsWith('/v1/')) return ENDPOINTS.find(([pattern]) => pattern.test(path))?.[1] ?? '/v1/*'
  return ROUTES.find(([pattern]) => pattern.test(path))?.[1] ?? null
}
