import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { gatherBytes } from '../../src/wire/gathered-bytes.ts'

describe('gathered bytes', () => {
  it('are those of all chunks, in their order, however long each is', () => {
    const length = fc.oneof(fc.nat(3), fc.constantFrom(16_383, 16_384, 16_385, 40_000))
    fc.assert(
      fc.property(fc.array(length, { maxLength: 60 }), (lengths) => {
        let next = 0
        const chunks = lengths.map((size) => Buffer.from(Array.from({ length: size }, () => next++)))
        const gathered = gatherBytes()
        for (const chunk of chunks) gathered.push(chunk)
        assert.ok(Buffer.concat(gathered.take()).equals(Buffer.concat(chunks)))
        assert.deepEqual(gathered.take(), [])
      }),
      { numRuns: 50 },
    )
  })

  it('are few parts, also of a body that comes byte by byte', () => {
    const gathered = gatherBytes()
    for (let i = 0; i < 1_000_000; i++) gathered.push(Buffer.of(i))
    const parts = gathered.take()
    assert.ok(parts.length < 100, `${parts.length} parts`)
    assert.equal(Buffer.concat(parts).length, 1_000_000)
  })

  it('copies no chunk of a usual body', () => {
    const gathered = gatherBytes()
    const chunks = Array.from({ length: 10 }, () => Buffer.alloc(64 * 1024))
    for (const chunk of chunks) gathered.push(chunk)
    for (const [index, part] of gathered.take().entries()) assert.equal(part.buffer, chunks[index]?.buffer)
  })
})
