import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { endWithTests } from './end-with-tests.ts'

/** A message that the receiver got. */
export interface Received {
  headers: IncomingHttpHeaders
  body: string
}

/** A receiver of webhooks on this machine. */
export interface WebhookDouble {
  url: string
  secret: string
  received: Received[]
  /** Sets the status of the next replies, 204 at first; null never replies. */
  answer(status: number | null, headers?: Record<string, string>): void
  /** A message as the library of Standard Webhooks verifies it. @throws where its signature is false */
  verified(message: Received): { type: string; data: Record<string, unknown> }
  /** Resolves once that many messages have arrived. */
  got(messages: number): Promise<void>
  close(): Promise<void>
}

/** Starts a receiver on a free port. */
export async function startWebhook(): Promise<WebhookDouble> {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const received: Received[] = []
  const waiting = new Set<() => void>()
  let answer: [status: number, headers: Record<string, string>] | null = [204, {}]
  const server = createServer(async (request, reply) => {
    received.push({ headers: request.headers, body: await text(request) })
    for (const look of waiting) look()
    if (answer) reply.writeHead(...answer).end()
  })
  endWithTests(server).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    secret,
    received,
    answer(status, headers = {}) {
      answer = status === null ? null : [status, headers]
    },
    verified: ({ headers, body }) =>
      new Webhook(secret).verify(body, headers as Record<string, string>) as {
        type: string
        data: Record<string, unknown>
      },
    got: (messages) =>
      new Promise((resolve) => {
        function look(): void {
          if (received.length < messages) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
