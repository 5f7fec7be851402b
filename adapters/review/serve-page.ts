import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import * as z from 'zod'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { newId } from '../../src/text/ids.ts'
import { parseInput } from '../../src/wire/validation.ts'
import { fileReply } from '../console/file-reply.ts'
import type { ConsoleFile } from '../console/files.ts'
import { notFound } from '../web/error-handler.ts'
import { errorReply } from '../web/error-reply.ts'
import { bearerToken } from '../web/frame.ts'
import type { Frame, FrameContext } from '../web/frame-context.ts'
import { checkHost, hostRules } from '../web/hosts.ts'
import { readJson } from '../web/json-body.ts'
import { listen } from '../web/listen.ts'
import { createPageAccess } from './page-token.ts'

/** A page of a command that is served. */
export interface ServedPage {
  /** Link that opens the page once. */
  url: string
  close(): Promise<void>
}

/** Address that the page is served at. Browsers refuse passkeys for `127.0.0.1`, and allow them for `localhost`. */
const HOST = '127.0.0.1'
const HOST_6 = '::1'

/** Largest body of a request, in bytes. */
const LARGEST_BODY = 8 * 1024 * 1024

/** Time for the last reply, in ms. */
const LAST_REPLY_MS = 2000

const PAGE = '/review.html'

const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // The library that follows eyes makes pictures of its own.
    "img-src 'self' data: blob:",
    'media-src blob: mediastream:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(self), microphone=(), geolocation=()',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/**
 * Serves a page on a free port of this machine until it is closed. The link opens it once; its tab gets a token, which every
 * request to `/api/reviews` and `/api/passkeys` needs.
 *
 * @param files of the built console, which has the page
 * @param opened reply to the page's first request, beside its token
 * @param addRoutes adds what the page asks for
 * @param isOther tells whether a token that is not the page's opens this request
 */
export async function servePage(
  { files, log, opened }: { files: ReadonlyMap<string, ConsoleFile>; log: Log; opened: object },
  addRoutes: (app: Hono<Frame>) => void,
  isOther: (request: string, token: string) => boolean = () => false,
): Promise<ServedPage> {
  const access = createPageAccess()
  const app = new Hono<Frame>()
  const rules = hostRules(HOST, [], [])
  app.use(async (c, next) => {
    checkHost(c.env.incoming.headers, rules)
    await next()
  })
  app.get('/', (c) => fileReply(c, files, PAGE, HEADERS))
  app.get('/assets/*', (c) => fileReply(c, files, c.req.path))
  app.post('/api/open', async (c) => {
    const { ticket } = await bodyOf(c, z.object({ ticket: z.string().max(100) }))
    const token = access.exchange(ticket)
    if (token === null) throw refused('This link was opened before, and works once. Run gazeway review again.')
    return c.json({ token, ...opened })
  })
  app.use('/api/*', async (c, next) => {
    const token = bearerToken(c.req.header('authorization'))
    const isOpen = (sent: string) => access.isToken(sent) || isOther(`${c.req.method} ${c.req.path}`, sent)
    if (token === null || !isOpen(token)) throw refused('This page is not signed in. Run gazeway review again.')
    await next()
  })
  addRoutes(app)
  app.notFound(notFound)
  app.onError((error, c) => {
    const request = { incoming: c.env.incoming, path: c.req.path, requestId: newId('req'), callerId: null }
    const { status, headers, body } = errorReply(error, request, log)
    return c.body(body, status as ContentfulStatusCode, headers)
  })
  const { port, servers } = await serveLocalhost(
    getRequestListener(app.fetch as Parameters<typeof getRequestListener>[0]),
  )
  return {
    url: `http://localhost:${port}/#${access.ticket}`,
    close: async () => void (await Promise.all(servers.map(closeServer))),
  }
}

/**
 * Listens at both addresses of `localhost`. Browsers try the one of IPv6 first: another program of this machine there would
 * get the link.
 *
 * @throws GazewayError `conflict` when another program listens there
 */
async function serveLocalhost(listener: RequestListener): Promise<{ port: number; servers: Server[] }> {
  const server = createServer(listener)
  await listen(server, { host: HOST, port: 0, flag: '--port' })
  const { port } = server.address() as AddressInfo
  const six = createServer(listener)
  try {
    await listen(six, { host: HOST_6, port, flag: '--port' })
    return { port, servers: [server, six] }
  } catch (error) {
    // A machine without IPv6.
    if (error instanceof GazewayError && error.code === 'config_invalid') return { port, servers: [server] }
    await closeServer(server)
    throw error
  }
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((done) => server.close(done))
  const late = setTimeout(() => server.closeAllConnections(), LAST_REPLY_MS)
  await closed
  clearTimeout(late)
}

const refused = (message: string) => new GazewayError('invalid_api_key', message)

/** Reads the body of a request of the page. @throws GazewayError `validation_failed` */
export async function bodyOf<Schema extends z.ZodType>(
  { env }: FrameContext,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const limit = { bytes: LARGEST_BODY, setting: 'of this page', callerId: null, buffered: null }
  return parseInput(schema, (await readJson(env.incoming, limit)).json)
}
