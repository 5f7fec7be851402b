import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cosine, nearestBySigns, quantize, readSigns, signsOf } from '../../src/memory/vectors/quantized.ts'
import { randomOf } from '../gaze/human-stream.ts'

/** Vectors in clusters of ten, as embeddings of related texts are. */
function vectorsFor(count: number, length: number, seed: number): Float32Array[] {
  const random = randomOf(seed)
  const drawn = () => Float32Array.from({ length }, () => random() + random() + random() - 1.5)
  const centres = Array.from({ length: Math.ceil(count / 10) }, drawn)
  return Array.from({ length: count }, (_, i) => {
    const noise = drawn()
    return (centres[i % centres.length] as Float32Array).map((value, at) => value + 0.8 * (noise[at] ?? 0))
  })
}

const exact = (a: Float32Array, b: Float32Array): number => {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

describe('vectors in eight bits', () => {
  it('keep their angles to within a hundredth', () => {
    const [first, ...others] = vectorsFor(50, 768, 1)
    assert.ok(first, 'there is a vector')
    for (const other of others) {
      const error = Math.abs(cosine(first, quantize(other).vector) - exact(first, other))
      assert.ok(error < 0.01, `an error of ${error}`)
    }
  })

  it('keep their signs', () => {
    for (const length of [1, 31, 32, 33, 768]) {
      const vector = vectorsFor(1, length, 2)[0] as Float32Array
      assert.deepEqual(readSigns(quantize(vector).signs), signsOf(vector))
    }
  })

  it('compare only at equal length, and have no angle when all values are zero', () => {
    const zero = new Float32Array(4)
    const one = Float32Array.from([1, 2, 3, 4])
    assert.equal(cosine(zero, quantize(one).vector), 0)
    assert.equal(cosine(one, quantize(zero).vector), 0)
    assert.equal(cosine(one, quantize(Float32Array.from([1, 2])).vector), 0)
  })

  it('are found by their signs: nearly all of the ten nearest are among the first two hundred', () => {
    const vectors = vectorsFor(5000, 384, 3)
    const width = 384 / 32
    const signs = new Uint32Array(vectors.length * width)
    for (const [i, vector] of vectors.entries()) signs.set(signsOf(vector), i * width)
    let found = 0
    for (const question of vectors.slice(0, 20)) {
      const near = new Set(nearestBySigns(signsOf(question), signs, { count: vectors.length, most: 200 }))
      assert.equal(near.size, 200)
      const ranked = vectors
        .map((vector, i) => ({ i, angle: exact(question, vector) }))
        .sort((a, b) => b.angle - a.angle)
      found += ranked.slice(0, 10).filter(({ i }) => near.has(i)).length
    }
    assert.ok(found >= 170, `${found} of 200`)
  })

  for (const length of [32, 64, 96, 160])
    it(`are ordered by how many of ${length} signs they share`, () => {
      const of = new Uint32Array(length / 32).fill(0xffffffff)
      const signs = Uint32Array.from(
        { length: 3 * of.length },
        (_, i) => [0xffffffff, 0, 0xfffffffe][Math.floor(i / of.length)] ?? 0,
      )
      assert.deepEqual(nearestBySigns(of, signs, { count: 3, most: 1 }), [0])
      assert.deepEqual(nearestBySigns(of, signs, { count: 3, most: 2 }), [0, 2])
      assert.deepEqual(nearestBySigns(of, signs, { count: 3, most: 9 }), [0, 2, 1])
    })

  it('are all found where there are fewer than are asked for', () => {
    const vectors = vectorsFor(3, 64, 5)
    const signs = Uint32Array.from(vectors.flatMap((vector) => [...signsOf(vector)]))
    const near = nearestBySigns(signsOf(vectors[0] as Float32Array), signs, { count: 3, most: 200 })
    assert.deepEqual(near.toSorted(), [0, 1, 2])
    assert.deepEqual(nearestBySigns(signsOf(vectors[0] as Float32Array), new Uint32Array(0), { count: 0, most: 9 }), [])
  })
})
