import { Client } from 'undici'
import type { Target } from './http-targets.ts'

/** A client with one connection to a target. */
export interface OneConnection {
  /** Sends a request and reads its reply. @throws Error when the reply is a refusal */
  send(body: string): Promise<{ firstByteMs: number; wholeMs: number }>
  /** Leaves as soon as the first byte of the reply is there. */
  leave(body: string): Promise<void>
  close(): Promise<void>
  /** Ends the connection at once: what is being sent fails. */
  drop(): Promise<void>
}

/** Connects to a target; the connection is made with the first request. */
export function connectTo({ url, headers }: Target): OneConnection {
  const { origin, pathname } = new URL(url)
  const client = new Client(origin)

  async function begin(body: string) {
    const reply = await client.request({ method: 'POST', path: pathname, headers, body })
    if (reply.statusCode !== 200) throw new Error(`${url} answered ${reply.statusCode}: ${await reply.body.text()}`)
    return reply.body
  }

  return {
    async send(body) {
      const start = performance.now()
      let firstByteMs = 0
      for await (const _ of await begin(body)) firstByteMs ||= performance.now() - start
      return { firstByteMs, wholeMs: performance.now() - start }
    },
    async leave(body) {
      for await (const _ of await begin(body)) break
      await client.destroy()
    },
    close: () => client.close(),
    drop: () => client.destroy(),
  }
}
