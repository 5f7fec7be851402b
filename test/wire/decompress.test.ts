import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { brotliCompressSync } from 'node:zlib'
import { type Decompressing, decompressing } from '../../src/wire/decompress.ts'
import { until } from '../doubles/until.ts'

const SIZE = 20 * 1024 * 1024
/** Some bytes that say many. */
const BOMB = brotliCompressSync(Buffer.alloc(SIZE, 'a'))

function reading(onData: (decompress: Decompressing, size: number) => void = () => {}) {
  const heard = { size: 0, errors: [] as Error[], ended: Promise.resolve() }
  heard.ended = new Promise((resolve) => {
    const decompress = decompressing(
      'br',
      {
        onData(chunk) {
          heard.size += chunk.length
          onData(decompress, heard.size)
        },
        onEnd: resolve,
        onError: (error) => void heard.errors.push(error),
      },
      () => {},
    ) as Decompressing
    decompress.onData(BOMB)
    decompress.onEnd()
  })
  return heard
}

describe('a compressed body', () => {
  it('is read no further once its reply is given up', async () => {
    let reply: Decompressing | undefined
    const heard = reading((decompress, size) => {
      reply = decompress
      if (size > 1024 * 1024) decompress.stop()
    })
    await until(() => heard.size > 1024 * 1024)
    // Whatever it might still read would come at once.
    await delay(100)
    assert.ok(heard.size > 1024 * 1024 && heard.size < 2 * 1024 * 1024, `${heard.size} bytes`)
    reply?.onError(new Error('given up'))
    reply?.onError(new Error('and again'))
    assert.deepEqual(heard.errors.map(String), ['Error: given up'])
  })

  it('is held up with its reply, and goes on with it', async () => {
    let resume = () => {}
    const heard = reading((decompress, size) => {
      if (size > 1024 * 1024) return
      decompress.pause()
      resume = () => decompress.resume()
    })
    await until(() => heard.size > 0)
    const first = heard.size
    await delay(200)
    assert.ok(first > 0 && heard.size === first && first < 256 * 1024, `${first} and ${heard.size} bytes`)
    const going = setInterval(() => resume(), 1)
    await heard.ended
    clearInterval(going)
    assert.equal(heard.size, SIZE)
  })
})
