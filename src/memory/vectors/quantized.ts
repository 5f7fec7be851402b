/** A vector in its stored form. */
export interface Quantized {
  /** One byte per number; the largest becomes 127 or −127. Base64. */
  vector: string
  /** One bit per number, set when it is above zero. Base64 of 32-bit words. */
  signs: string
}

/** Quantizes a vector to eight bits per number. Its angles to other vectors hardly change. */
export function quantize(vector: Float32Array): Quantized {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  const bytes = Int8Array.from(vector, (value) => (largest === 0 ? 0 : Math.round((127 * value) / largest)))
  return { vector: toBase64(bytes), signs: toBase64(signsOf(vector)) }
}

/** The signs of a vector, one bit per number, in 32-bit words. */
export function signsOf(vector: ArrayLike<number>): Uint32Array {
  const words = new Uint32Array(Math.ceil(vector.length / 32))
  for (let i = 0; i < vector.length; i++)
    if ((vector[i] ?? 0) > 0) words[i >>> 5] = (words[i >>> 5] ?? 0) | (1 << (i & 31))
  return words
}

/** Reads the signs of a stored vector. */
export const readSigns = (signs: string): Uint32Array => {
  const bytes = Uint8Array.from(Buffer.from(signs, 'base64'))
  return new Uint32Array(bytes.buffer)
}

/** Computes the cosine of the angle between a vector and a stored one; 0 when their lengths differ. */
export function cosine(vector: Float32Array, kept: string): number {
  const bytes = Buffer.from(kept, 'base64')
  if (bytes.length !== vector.length) return 0
  let dot = 0
  let own = 0
  let other = 0
  for (let i = 0; i < vector.length; i++) {
    const a = vector[i] as number
    const b = ((bytes[i] as number) << 24) >> 24
    dot += a * b
    own += a * a
    other += b * b
  }
  return own === 0 || other === 0 ? 0 : dot / Math.sqrt(own * other)
}

/** Counts the bits in each half-byte of a word (Warren 2012, figure 5-2, its first steps). */
function bitsOfHalves(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  return (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
}

/** Sums the bit counts of half-bytes. */
const bitsIn = (halves: number): number =>
  Math.imul((halves & 0x0f0f0f0f) + ((halves >>> 4) & 0x0f0f0f0f), 0x01010101) >>> 24

/** Counts, by half-byte, the bits that differ between a word of `of` and the same word of the signs at `at`. */
function differing(of: Uint32Array, signs: Uint32Array, at: number, word: number): number {
  return bitsOfHalves((signs[at + word] as number) ^ (of[word] as number))
}

/** Hamming distance between `of` and the signs at `at`. Half-bytes of three words are added before they are summed. */
function distanceAt(of: Uint32Array, signs: Uint32Array, at: number): number {
  const inThrees = of.length - (of.length % 3)
  let distance = 0
  for (let word = 0; word < inThrees; word += 3) {
    const first = differing(of, signs, at, word)
    distance += bitsIn(first + differing(of, signs, at, word + 1) + differing(of, signs, at, word + 2))
  }
  for (let word = inThrees; word < of.length; word++) distance += bitsIn(differing(of, signs, at, word))
  return distance
}

/**
 * Returns the positions of the `most` among `count` vectors that share the most signs with one vector, nearest first.
 *
 * @param signs of all vectors, concatenated
 */
export function nearestBySigns(
  of: Uint32Array,
  signs: Uint32Array,
  { count, most }: { count: number; most: number },
): number[] {
  const width = of.length
  const distances = new Uint16Array(count)
  const counts = new Uint32Array(32 * width + 1)
  for (let i = 0, at = 0; i < count; i++, at += width) {
    const distance = distanceAt(of, signs, at)
    distances[i] = distance
    counts[distance] = (counts[distance] ?? 0) + 1
  }
  // A counting sort: `places` holds the next position of each distance in the result.
  const places = new Uint32Array(counts.length)
  for (let i = 1; i < counts.length; i++) places[i] = (places[i - 1] as number) + (counts[i - 1] as number)
  const near = new Array<number>(Math.min(most, count))
  for (let i = 0; i < count; i++) {
    const distance = distances[i] as number
    const place = places[distance] as number
    if (place >= near.length) continue
    near[place] = i
    places[distance] = place + 1
  }
  return near
}

const toBase64 = ({ buffer, byteOffset, byteLength }: ArrayBufferView): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')
