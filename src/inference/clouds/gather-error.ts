import type { Headers, ReplyListener } from '../relay/exchange.ts'
import type { CloudError } from './cloud.ts'

/** Longest error that is read, in bytes. The rest of a longer one is dropped: a token in it could not be masked. */
const LONGEST_BYTES = 64 * 1024

/**
 * Passes a reply on. An error is gathered first, since what it says decides what follows.
 *
 * @param onError gives the error to pass on, or null when another reply follows
 */
export function gatherError(listener: ReplyListener, onError: (error: CloudError) => CloudError | null): ReplyListener {
  let head: { status: number; headers: Headers } | null = null
  let chunks: Buffer[] = []
  let size = 0

  function passOn(): void {
    if (head === null) return
    listener.onHead(head.status, head.headers)
    head = null
    for (const chunk of chunks) listener.onData(chunk)
    chunks = []
  }

  return {
    onConnected: () => listener.onConnected?.(),
    onHead(status, headers) {
      if (status >= 400 && headers['content-encoding'] === undefined) head = { status, headers }
      else listener.onHead(status, headers)
    },
    onData(chunk) {
      if (head === null) return listener.onData(chunk)
      if (size <= LONGEST_BYTES) chunks.push(chunk)
      size += chunk.length
    },
    onEnd() {
      if (head === null) return listener.onEnd()
      const read = Buffer.concat(chunks)
      const told = onError({ ...head, text: read.toString(), isCut: read.length < size })
      if (told === null) return
      const { 'content-length': _, ...headers } = told.headers
      listener.onHead(told.status, headers)
      listener.onData(Buffer.from(told.text))
      listener.onEnd()
    },
    onError(error) {
      passOn()
      listener.onError(error)
    },
  }
}
