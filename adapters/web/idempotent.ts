import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import type { FrameContext } from './frame.ts'

/** What a route answers. */
export interface JsonReply {
  status: number
  body: unknown
}

/**
 * Answers a POST that creates or charges. With an `Idempotency-Key`, the same key and body get the first answer again.
 *
 * @param text the body as it was sent
 * @throws GazewayError `validation_failed` for a key that is empty or too long, and as `createIdempotency`
 */
export async function idempotent(
  c: FrameContext,
  { idempotency }: Gateway,
  text: string,
  work: () => Promise<JsonReply>,
): Promise<Response> {
  const key = c.req.header('idempotency-key')
  if (key === undefined) {
    const { status, body } = await work()
    return c.json(body, status as ContentfulStatusCode)
  }
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    throw new GazewayError('validation_failed', 'Idempotency-Key must be 1 to 255 visible ASCII characters.', {
      param: 'Idempotency-Key',
    })
  const scope = c.get('identity')?.id ?? 'anonymous'
  const route = `${c.req.method} ${c.req.path}`
  const { reply, replayed } = await idempotency.run({ scope, key, route, body: text }, async () => {
    const { status, body } = await work()
    return { status, body: JSON.stringify(body) }
  })
  if (replayed) c.header('idempotent-replayed', 'true')
  return c.body(reply.body, reply.status as ContentfulStatusCode, { 'content-type': 'application/json' })
}
