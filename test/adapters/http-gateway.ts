import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, afterEach, beforeEach } from 'node:test'
import type { CallRecord } from '../../src/calls/call-record.ts'
import * as double from '../doubles/upstream.ts'
import { startGateway } from './gateway.ts'

/** Body of a chat. */
export const ASK = { messages: [{ role: 'user', content: 'Say hello.' }] }
/** An answer that its provider ends without a finish reason. */
export const UNFINISHED = double.chunks(['Hello.'], null).slice(0, -1)
/** Body of a request for a response. */
export const QUESTION = { input: 'Find it.', instructions: 'Be short.' }

/** Starts the gateway of a test file and its upstream. Each case begins without requests or records, and may log no secret. */
export async function openGateway() {
  const server = await double.startUpstream()
  const running = await startGateway(server.url, {}, { upstream: { timeout_ms: 2000 } })
  beforeEach(async () => {
    server.received.length = 0
    await running.gateway.calls.flush()
    await running.gateway.store.db.deleteFrom('calls').execute()
    await running.gateway.store.db.deleteFrom('call_rollups').execute()
    await running.gateway.store.db.deleteFrom('call_totals').execute()
  })
  afterEach(() => assert.ok(!running.logged.join('').includes('upstream-secret-key'), 'the log holds no key'))
  after(async () => {
    await running.close()
    await server.close()
  })

  const request = (path: string, init: RequestInit & { key?: string | null } = {}) => {
    const { key = running.key, ...rest } = init
    const headers = { ...(key ? { authorization: `Bearer ${key}` } : {}), ...(rest.headers as Record<string, string>) }
    return fetch(running.url + path, { ...rest, headers })
  }
  return {
    /** The upstream. */
    server,
    running,
    /** Asks with the key of the gateway, or the one in `init`. */
    request,
    post: (path: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
      request(path, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
        ...(signal ? { signal } : {}),
      }),
    /** Records of the case's calls, newest first. */
    records: async (): Promise<CallRecord[]> => (await running.gateway.calls.history({ limit: 50 })).items,
    /** The metric of requests in flight, this one included. */
    inFlight: async () =>
      /^gazeway_http_requests_in_flight (.+)$/m.exec(await (await request('/metrics', { key: null })).text())?.[1],
    /** Body of the last request to the upstream. */
    sentBody: () => server.received.at(-1)?.body as Record<string, unknown>,
  }
}

/** Error in a refused reply. */
export const errorOf = async (reply: Response) => ((await reply.json()) as { error: Record<string, unknown> }).error

/** Events of a stream, parsed. */
export const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter((event) => event.includes('data: {'))
    .map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)))

/** Waits for an event of a reply. */
export const happens = (response: ServerResponse, name: string) =>
  new Promise((resolve) => response.once(name, resolve))
