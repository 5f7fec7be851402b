/** Number of chunks that are kept as they come. Most bodies have fewer. */
const FEW = 16
/** Length of the pages that further chunks are copied to. Longer chunks are kept as they come. */
const PAGE = 16 * 1024

/** Bytes that come in chunks, until they are read. */
export interface GatheredBytes {
  push(chunk: Uint8Array): void
  /** The bytes in their order, in few parts. They are given once. */
  take(): Buffer[]
}

/**
 * Gathers the chunks of a body. Each chunk is an object of some 300 bytes: a client that sends a body of 32 MB byte by
 * byte would take 10 GB. Therefore many short ones are copied together.
 */
export function gatherBytes(): GatheredBytes {
  let parts: Buffer[] = []
  let page: Buffer | null = null
  let used = 0

  function close(): void {
    if (page !== null) parts.push(page.subarray(0, used))
    page = null
  }
  function copy(chunk: Buffer): void {
    for (let from = 0; from < chunk.length; ) {
      if (page === null || used === PAGE) {
        close()
        page = Buffer.allocUnsafeSlow(PAGE)
        used = 0
      }
      const copied = chunk.copy(page, used, from)
      used += copied
      from += copied
    }
  }
  return {
    push(bytes) {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      if (page === null && parts.length < FEW) parts.push(chunk)
      else if (chunk.length < PAGE) copy(chunk)
      else {
        close()
        parts.push(chunk)
      }
    },
    take() {
      close()
      const taken = parts
      parts = []
      return taken
    },
  }
}
