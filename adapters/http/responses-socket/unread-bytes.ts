import type { Duplex } from 'node:stream'
import type { BufferedBytes } from '../../../src/wire/buffered-bytes.ts'

/** Largest part of a message that is not counted, in bytes. */
const LARGEST_UNCOUNTED = 64 * 1024

/** Bytes of a message that has not come in whole. */
export interface UnreadBytes {
  /** Gives them back: the message is whole, or the connection closed. */
  reset(): void
}

/**
 * Counts the bytes of incoming messages among all bodies in memory.
 *
 * @param raw connection below the socket
 * @param onFull called when there is no room for more
 */
export function countUnread(
  raw: Duplex,
  { buffered, callerId, onFull }: { buffered: BufferedBytes; callerId: string; onFull: () => void },
): UnreadBytes {
  const owner = { request: {}, callerId }
  let size = 0
  raw.on('data', (chunk: Buffer) => {
    const before = size
    size += chunk.length
    if (size <= LARGEST_UNCOUNTED) return
    try {
      buffered.take(owner, before > LARGEST_UNCOUNTED ? chunk.length : size)
    } catch {
      onFull()
    }
  })
  return {
    reset() {
      size = 0
      buffered.release(owner.request)
    },
  }
}
