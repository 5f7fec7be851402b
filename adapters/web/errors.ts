import type { ErrorHandler, Hono, NotFoundHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { errorBody, GazewayError } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import type { Frame } from './frame.ts'

/**
 * Dresses an error as `{ error: … }` with its status. Errors that are Gazeway's own fault are logged whole and told
 * without detail.
 */
export function errorHandler(log: Log): ErrorHandler<Frame> {
  return (error, c) => {
    const requestId = c.get('requestId') ?? null
    const known = error instanceof GazewayError ? error : internal(error)
    if (known.code === 'internal_error') log.error('A request failed.', { request_id: requestId, err: error })
    const { outgoing } = c.env
    if (outgoing.headersSent) {
      // Too late for another status: the client sees that the reply is not whole.
      outgoing.destroy()
      return c.body(null)
    }
    if (requestId) c.header('x-request-id', requestId)
    if (known.status === 401) c.header('www-authenticate', 'Bearer')
    if (known.retryAfterSeconds !== null) c.header('retry-after', String(Math.ceil(known.retryAfterSeconds)))
    if (known.callId) c.header('x-gazeway-call-id', known.callId)
    return c.json({ error: errorBody(known, requestId) }, known.status as ContentfulStatusCode)
  }
}

export const notFound: NotFoundHandler<Frame> = (c) => {
  throw new GazewayError('not_found', `There is nothing at ${c.req.method} ${c.req.path.slice(0, 200)}.`)
}

/** Answers every other method on the routes registered so far with 405 and what is allowed. */
export function refuseOtherMethods(app: Hono<Frame>): void {
  const methods = new Map<string, Set<string>>()
  for (const { method, path } of app.routes) {
    if (method === 'ALL') continue
    methods.set(path, (methods.get(path) ?? new Set()).add(method))
  }
  for (const [path, allowed] of methods) {
    const allow = [...allowed, ...(allowed.has('GET') ? ['HEAD'] : [])].join(', ')
    app.all(path, (c) => {
      c.header('allow', allow)
      throw new GazewayError('method_not_allowed', `${c.req.method} is not possible here; use ${allow}.`)
    })
  }
}

function internal(cause: Error): GazewayError {
  return new GazewayError('internal_error', 'Gazeway itself failed. Its log says more under this request id.', {
    cause,
  })
}
