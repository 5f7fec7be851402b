import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { crc32 } from 'node:zlib'
import { readFrames } from '../../../src/inference/clouds/event-frames.ts'
import { frame } from '../../doubles/clouds/bedrock.ts'

const EVENT = { ':message-type': 'event', ':event-type': 'chunk' }
const event = (type: string) => frame(EVENT, { bytes: Buffer.from(JSON.stringify({ type })).toString('base64') })
const EXCEPTION = { ':message-type': 'exception', ':exception-type': 'throttlingException' }

/** A beginning of a frame with a sound checksum. */
function prelude(length: number): Buffer {
  const head = Buffer.alloc(16)
  head.writeUInt32BE(length)
  head.writeUInt32BE(crc32(head.subarray(0, 8)), 8)
  return head
}

function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt8(copy.readUInt8(copy.length - 6) ^ 1, copy.length - 6)
  return copy
}

/** Tells what a stream in chunks of a size leads to. */
function read(stream: Buffer, size: number): string {
  const told: string[] = []
  const listener = readFrames(
    {
      onHead: () => {},
      onData: (bytes) => void told.push(/^event: (\S+)\ndata: (.*)\n\n$/.exec(String(bytes))?.[1] ?? '?'),
      onEnd: () => void told.push('end'),
      onError: () => void told.push('broken'),
    },
    () => void told.push('aborted'),
  )
  listener.onHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
  for (let at = 0; at < stream.length; at += size) listener.onData(stream.subarray(at, at + size))
  listener.onEnd()
  return told.join(' ')
}

describe('frames of an event stream', () => {
  const stop = event('message_stop')
  const cases: [string, Buffer[], string][] = [
    ['pass as events', [event('ping'), stop], 'ping message_stop end'],
    ['omit events that are unknown', [frame({ ...EVENT, ':event-type': 'new' }, ''), stop], 'message_stop end'],
    ['have headers of other types', [frame({ ':is-new': 'true', ...EXCEPTION }, {}), stop], 'error message_stop end'],
    ['tell an error without a body', [frame({ ':message-type': 'error', ':error-code': 'Internal' }, '')], 'error end'],
    ['tell an exception without a name', [frame({ ':message-type': 'exception' }, 'oops')], 'error end'],
    ['end with a cut one', [event('ping'), stop.subarray(0, -1)], 'ping end'],
    ['break at a wrong checksum', [event('ping'), damaged(stop), stop], 'ping broken aborted'],
    ['break at no event in a chunk', [frame(EVENT, { other: 1 }), stop], 'broken aborted'],
    ['break at a length of nothing', [prelude(0), stop], 'broken aborted'],
    ['break at a length that nobody sends', [prelude(2 ** 30), stop], 'broken aborted'],
  ]
  for (const [what, frames, expected] of cases)
    it(what, () => {
      for (const size of [1, 7, 65536]) assert.equal(read(Buffer.concat(frames), size), expected)
    })
})
