import type { Receiver } from '../../src/inference/relay/receiver.ts'
import type { Client } from '../../src/inference/relay/send.ts'

/** A reply buffered in memory, to be stored or sent later. */
export interface Captured {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/**
 * Creates a receiver that buffers a relayed reply, so that it can be stored before it is sent.
 *
 * @param client client that waits for the reply; the relay ends when it disconnects
 * @returns `reply` gives the relayed reply; null before its end
 */
export function capture(client: Client): { receiver: Receiver; reply: () => Captured | null } {
  const chunks: Buffer[] = []
  let head: Pick<Captured, 'status' | 'headers'> | null = null
  let ended = false

  const receiver: Receiver = {
    beat() {},
    isGone: client.isGone,
    onGone: client.onGone,
    whole(status, headers, body) {
      receiver.head(status, headers)
      receiver.end(body)
    },
    head(status, headers) {
      head = { status, headers }
    },
    write(bytes) {
      chunks.push(typeof bytes === 'string' ? Buffer.from(bytes) : bytes)
      return true
    },
    // Nothing to wait for: a buffer accepts bytes at any speed.
    onDrain() {},
    drop() {},
    end(bytes) {
      if (bytes !== undefined) receiver.write(bytes)
      ended = true
    },
  }
  return { receiver, reply: () => (head && ended ? { ...head, body: Buffer.concat(chunks) } : null) }
}
