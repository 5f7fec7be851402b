import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, type Zlib } from 'node:zlib'

/** What reads a body, by `content-encoding`. */
const DECODERS = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/** The first byte of all that gzip writes (RFC 1952); no text begins with it. */
const GZIP_BEGINS = 0x1f

/** What is told of a reply after its head. */
export interface BodyListener {
  onData(chunk: Buffer): void
  onEnd(): void
  onError(error: Error): void
}

/** Takes the bytes of a compressed body; a few of them may say more than all that is ever read. */
export interface Decompressing extends BodyListener {
  /** Reads no more of what has come, until `resume`. */
  pause(): void
  resume(): void
  /** Reads no more at all; an error that follows is told at once. */
  stop(): void
}

/**
 * Reads a body that its server, or a proxy before it, has compressed although none was asked for.
 *
 * @param encoding its `content-encoding`
 * @param giveUp ends the reply, once its bytes turn out not to be what they are said to be
 * @returns what takes the bytes as they come and tells `listener` what they say; null for a way to compress that is not
 *   known
 */
export function decompressing(encoding: string, listener: BodyListener, giveUp: () => void): Decompressing | null {
  const create = DECODERS.get(encoding.trim().toLowerCase())
  if (!create) return null
  // Proxies leave the header on what they have decompressed.
  const isCompressed = ([first]: Buffer) => create !== createGunzip || first === GZIP_BEGINS
  let decoder: (Transform & Zlib) | undefined
  let reader: BodyListener | undefined
  let failed = false
  const told: BodyListener = {
    ...listener,
    // To give up makes another one.
    onError(error) {
      if (!failed) listener.onError(error)
      failed = true
    },
  }

  const begin = (chunk: Buffer): BodyListener => {
    if (!isCompressed(chunk)) return told
    decoder = create()
    return reading(decoder, told, giveUp)
  }

  return {
    onData(chunk) {
      reader ??= begin(chunk)
      reader.onData(chunk)
    },
    // A reply without a body is none that was cut off.
    onEnd: () => (reader ?? told).onEnd(),
    onError: (error) => (reader ?? told).onError(error),
    pause: () => void decoder?.pause(),
    resume: () => void decoder?.resume(),
    stop() {
      decoder?.destroy()
      reader = told
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
    // Not before what came until then.
    onError: (error) => void decoder.flush(() => decoder.destroy(error)),
  }
}
