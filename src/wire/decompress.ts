import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, type Zlib } from 'node:zlib'

/** Decoders by `content-encoding`. */
const DECODERS = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/** First byte of gzip data (RFC 1952). No text begins with it. */
const GZIP_BEGINS = 0x1f

/** Receives the body of a reply, after its headers. */
export interface BodyListener {
  onData(chunk: Buffer): void
  onEnd(): void
  onError(error: Error): void
}

/** Receives the bytes of a compressed body. Supports backpressure: a few compressed bytes may expand to a huge body. */
export interface Decompressing extends BodyListener {
  /** Pauses decoding until `resume`. */
  pause(): void
  resume(): void
  /** Stops decoding permanently. Errors that follow are reported at once. */
  stop(): void
}

/**
 * Decodes a body that its server, or a proxy in between, compressed without being asked to.
 *
 * @param encoding value of its `content-encoding`
 * @param giveUp aborts the reply once its bytes turn out to be corrupt
 * @returns a receiver of the raw bytes that passes the decoded ones to `listener`; null for an unsupported encoding
 */
export function decompressing(encoding: string, listener: BodyListener, giveUp: () => void): Decompressing | null {
  const create = DECODERS.get(encoding.trim().toLowerCase())
  if (!create) return null
  // Some proxies decompress a body and leave the header in place.
  const isCompressed = ([first]: Buffer) => create !== createGunzip || first === GZIP_BEGINS
  let decoder: (Transform & Zlib) | undefined
  let reader: BodyListener | undefined
  let failed = false
  const guarded: BodyListener = {
    ...listener,
    // Giving up causes a second error.
    onError(error) {
      if (!failed) listener.onError(error)
      failed = true
    },
  }

  const begin = (chunk: Buffer): BodyListener => {
    if (!isCompressed(chunk)) return guarded
    decoder = create()
    return reading(decoder, guarded, giveUp)
  }

  return {
    onData(chunk) {
      reader ??= begin(chunk)
      reader.onData(chunk)
    },
    // An empty body is complete, not truncated.
    onEnd: () => (reader ?? guarded).onEnd(),
    onError: (error) => (reader ?? guarded).onError(error),
    pause: () => void decoder?.pause(),
    resume: () => void decoder?.resume(),
    stop() {
      decoder?.destroy()
      reader = guarded
    },
  }
}

function reading(decoder: Transform & Zlib, listener: BodyListener, giveUp: () => void): BodyListener {
  decoder.on('data', (chunk: Buffer) => listener.onData(chunk))
  decoder.on('end', () => listener.onEnd())
  decoder.on('error', (error) => {
    listener.onError(error)
    giveUp()
  })
  return {
    onData: (chunk) => void decoder.write(chunk),
    onEnd: () => void decoder.end(),
    // Deliver the bytes received so far before the error.
    onError: (error) => void decoder.flush(() => decoder.destroy(error)),
  }
}
