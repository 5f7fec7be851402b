import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import * as z from 'zod'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { StoreGaze } from '../../src/gaze/gaze.ts'
import type { Receipt } from '../../src/review/receipt.ts'
import { DecideReview } from '../../src/review/review-record.ts'
import type { Reviews } from '../../src/review/reviews.ts'
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

/** The review that a page shows. */
export interface ShownReview {
  id: string
  callerId: string
  /** Name that the page proposes for the reviewer. */
  reviewer: string | null
  /** Head and base in words, for the title. */
  title: string
}

/** A page that is served. */
export interface ServedReview {
  /** Link that opens the page once. */
  url: string
  /** Resolves with the receipt, once the page has it. */
  decided: Promise<Receipt>
  close(): Promise<void>
}

/** Address that the page is served at. Browsers refuse passkeys for `127.0.0.1`, and allow them for `localhost`. */
const HOST = '127.0.0.1'

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
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/**
 * Serves the page of one review on a free port of this machine, until it is decided or closed. Its requests are those of the
 * platform's API, with the token of the page in place of a key.
 *
 * @param files of the built console, which has the page
 */
export async function serveReview(
  reviews: Reviews,
  shown: ShownReview,
  files: ReadonlyMap<string, ConsoleFile>,
  log: Log,
): Promise<ServedReview> {
  const access = createPageAccess()
  let onDecided: (receipt: Receipt) => void = () => {}
  const decided = new Promise<Receipt>((resolve) => {
    onDecided = resolve
  })
  const app = reviewApp(reviews, shown, files, access, (receipt) => onDecided(receipt))
  app.notFound(notFound)
  app.onError((error, c) => {
    const request = { incoming: c.env.incoming, path: c.req.path, requestId: newId('req'), callerId: null }
    const { status, headers, body } = errorReply(error, request, log)
    return c.body(body, status as ContentfulStatusCode, headers)
  })
  const server = createServer(getRequestListener(app.fetch as Parameters<typeof getRequestListener>[0]))
  await listen(server, { host: HOST, port: 0, flag: '--port' })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://localhost:${port}/#${access.ticket}`,
    decided,
    async close() {
      const closed = new Promise((done) => server.close(done))
      const late = setTimeout(() => server.closeAllConnections(), LAST_REPLY_MS)
      await closed
      clearTimeout(late)
    },
  }
}

function reviewApp(
  reviews: Reviews,
  { id, callerId, reviewer, title }: ShownReview,
  files: ReadonlyMap<string, ConsoleFile>,
  access: ReturnType<typeof createPageAccess>,
  onDecided: (receipt: Receipt) => void,
): Hono<Frame> {
  const app = new Hono<Frame>()
  const rules = hostRules(HOST, [], [])
  const path = `/api/reviews/${id}`

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
    return c.json({ token, id, reviewer, title })
  })
  app.use('/api/reviews/*', async (c, next) => {
    const token = bearerToken(c.req.header('authorization'))
    if (token === null || !access.isToken(token)) throw refused('This page is not signed in. Run gazeway review again.')
    await next()
  })
  app.get(path, async (c) => c.json(await reviews.get(id, callerId)))
  app.post(`${path}/evidence`, async (c) => {
    const { records } = await bodyOf(c, StoreGaze.pick({ records: true }))
    return c.json(await reviews.addEvidence(id, records, callerId))
  })
  app.post(`${path}/decision`, async (c) => {
    const receipt = await reviews.decide(id, await bodyOf(c, DecideReview), callerId)
    c.env.outgoing.once('close', () => onDecided(receipt))
    return c.json(receipt)
  })
  return app
}

const refused = (message: string) => new GazewayError('invalid_api_key', message)

async function bodyOf<Schema extends z.ZodType>({ env }: FrameContext, schema: Schema): Promise<z.infer<Schema>> {
  const limit = { bytes: LARGEST_BODY, setting: 'of this page', callerId: null, buffered: null }
  return parseInput(schema, (await readJson(env.incoming, limit)).json)
}
