import type { ErrorHandler, Hono, NotFoundHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { errorReply } from './error-reply.ts'
import type { Frame } from './frame.ts'
import { ALREADY_SENT } from './http-receiver.ts'
import type { OnRefused } from './refused-calls.ts'

/**
 * Answers with what {@link errorReply} makes of an error.
 *
 * @param refused told of each error of Gazeway's own
 */
export function errorHandler(log: Log, refused: OnRefused): ErrorHandler<Frame> {
  return (error, c) => {
    const { incoming, outgoing } = c.env
    const request = {
      incoming,
      path: c.req.path,
      requestId: c.get('requestId') ?? null,
      callerId: c.get('identity')?.id ?? null,
    }
    const { status, headers, body } = errorReply(error, request, { log, refused })
    if (!outgoing.headersSent) return c.body(body, status as ContentfulStatusCode, headers)
    // Too late for another status: the client sees that the reply is not whole, unless all of it goes out in this turn.
    setImmediate(() => outgoing.destroy())
    return ALREADY_SENT
  }
}

/** Answers what no route does: 404, in the shape of all errors. */
export const notFound: NotFoundHandler<Frame> = (c) => {
  throw new GazewayError('not_found', `There is nothing at ${c.req.method} ${c.req.path.slice(0, 200)}.`)
}

/**
 * Answers every other method on the routes registered so far with 405 and what is allowed. May be called again after
 * further routes.
 */
export function refuseOtherMethods(app: Hono<Frame>): void {
  const methods = new Map<string, Set<string>>()
  for (const { method, path } of app.routes) {
    // After its methods, a path's ALL answers those that are left: this function's own, of an earlier call.
    if (method === 'ALL') methods.delete(path)
    else methods.set(path, (methods.get(path) ?? new Set()).add(method))
  }
  for (const [path, allowed] of methods) {
    const allow = [...allowed, ...(allowed.has('GET') ? ['HEAD'] : [])].join(', ')
    app.all(path, (c) => {
      c.header('allow', allow)
      throw new GazewayError('method_not_allowed', `${c.req.method} is not possible here. Use ${allow}.`)
    })
  }
}
