import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { ReplyListener } from './send.ts'

/** What reads a body, by `content-encoding`. */
const DECODERS = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/** What is told of a reply after its head. */
export type BodyListener = Pick<ReplyListener, 'onData' | 'onEnd' | 'onError'>

/**
 * Reads a body that its server, or a proxy before it, has compressed although none was asked for.
 *
 * @param encoding its `content-encoding`
 * @param giveUp ends the reply, once its bytes turn out not to be what they are said to be
 * @returns what takes the bytes as they come and tells `listener` what they say; `listener` itself where they are as they
 *   should be, or compressed in a way that is not known
 */
export function decompressing(encoding: string, listener: BodyListener, giveUp: () => void): BodyListener {
  const create = DECODERS.get(encoding.trim().toLowerCase())
  if (!create) return listener
  const decoder = create()
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
