import type { ErrorHandler, Hono, NotFoundHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { lazily } from '../../src/lazily.ts'
import { bodyLeft } from './drain-body.ts'
import { type ErrorReply, errorReply, knownError } from './error-reply.ts'
import type { Frame, FrameContext } from './frame-context.ts'
import { ALREADY_SENT } from './http-receiver.ts'
import type { OnRefused } from './refused-calls.ts'
import { wantsHtml } from './wants-html.ts'

const loadPages = lazily(() => import('./html-page.ts'))

/**
 * Creates the router's error handler, which answers with {@link errorReply}, and shows browsers a page.
 *
 * @param refused called with each GazewayError
 */
export function errorHandler(log: Log, refused: OnRefused): ErrorHandler<Frame> {
  return async (error, c) => {
    const { incoming, outgoing } = c.env
    const request = {
      incoming,
      path: c.req.path,
      requestId: c.get('requestId') ?? null,
      callerId: c.get('identity')?.id ?? null,
    }
    if (error instanceof GazewayError) await refused(error, request)
    const reply = errorReply(error, request, log)
    await bodyLeft(incoming)
    if (!outgoing.headersSent) {
      const { headers, body } = isPage(c) ? await asPage(error, reply, request.requestId) : reply
      return c.body(body, reply.status as ContentfulStatusCode, headers)
    }
    // Too late for another status. Ending the connection shows the client an incomplete reply, unless it has ended with
    // the error.
    if (!outgoing.writableEnded) setImmediate(() => outgoing.destroy())
    return ALREADY_SENT
  }
}

/** Tells whether a person reads the reply in a browser. */
const isPage = ({ req }: FrameContext): boolean =>
  (req.method === 'GET' || req.method === 'HEAD') && wantsHtml(req.header('accept'))

async function asPage(error: unknown, reply: ErrorReply, requestId: string | null) {
  const { errorAsPage } = await loadPages()
  const { headers, body } = errorAsPage(knownError(error), requestId)
  return { headers: { ...reply.headers, ...headers }, body }
}

/** Answers a request that matches no route: 404, in the format of all errors. */
export const notFound: NotFoundHandler<Frame> = (c) => {
  throw new GazewayError('not_found', `There is nothing at ${c.req.method} ${c.req.path.slice(0, 200)}.`)
}

/**
 * Answers every other method on the registered routes with 405 and the allowed methods. May be called again after more
 * routes are registered.
 */
export function refuseOtherMethods(app: Hono<Frame>): void {
  const methods = new Map<string, Set<string>>()
  for (const { method, path } of app.routes) {
    // An earlier call has registered this ALL, which already refuses other methods on the path.
    if (method === 'ALL') methods.delete(path)
    else methods.set(path, (methods.get(path) ?? new Set()).add(method))
  }
  for (const [path, allowed] of methods) {
    const allow = [...allowed, ...(allowed.has('GET') ? ['HEAD'] : [])].join(', ')
    app.all(path, (c) => {
      c.header('allow', allow)
      throw new GazewayError('method_not_allowed', `${c.req.method} is not allowed here. Use ${allow}.`)
    })
  }
}
