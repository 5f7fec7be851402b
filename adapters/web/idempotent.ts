import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Gateway } from '../../src/gateway.ts'
import type { Keep, WorkReply } from '../../src/idempotency/idempotency.ts'
import type { FrameContext } from './frame-context.ts'

/** Reply of a route. */
export interface JsonReply {
  status: number
  body: unknown
  /** Headers of the reply itself only. */
  headers?: Readonly<Record<string, string>>
  /** The reply contains a secret. It is shown once and never stored for a replay. */
  secret?: boolean
}

/** Identity of a request under a key. */
interface KeyedRequest {
  /** The body as it was sent. */
  text: string
  /** Owner of the key: by default the caller. Null means nobody, and the key is ignored. */
  scope?: string | null | undefined
  /** Advice for a client that lost a secret reply. */
  whereLost?: string | undefined
}

/**
 * Answers a POST that creates or charges, or a DELETE that returns money. With an `Idempotency-Key`, the same key,
 * query and body get the first answer again.
 *
 * @param work gets a function that stores its answer; undefined when no answer is stored
 * @throws GazewayError as `createIdempotency`
 */
export async function idempotent(
  c: FrameContext,
  { idempotency }: Gateway,
  { text, scope = c.get('identity')?.id ?? 'anonymous', whereLost }: KeyedRequest,
  work: (keep?: Keep<JsonReply>) => Promise<JsonReply>,
): Promise<Response> {
  const key = c.req.header('idempotency-key')
  if (key === undefined || scope === null) {
    const { status, body, headers } = await work()
    return c.json(body, status as ContentfulStatusCode, headers)
  }
  const route = `${c.req.method} ${c.req.path}${new URL(c.req.url).search}`
  const request = { scope, key, route, body: text, requestId: c.get('requestId'), whereLost }
  const { reply, replayed } = await idempotency.run(request, async (keep) =>
    asText(await work((trx, made) => keep(trx, asText(made)))),
  )
  if (replayed) c.header('idempotent-replayed', 'true')
  const headers = { ...reply.headers, 'content-type': 'application/json' }
  return c.body(reply.body, reply.status as ContentfulStatusCode, headers)
}

const asText = ({ body, ...reply }: JsonReply): WorkReply => ({ ...reply, body: JSON.stringify(body) })
