import { randomOf } from '../test/gaze/human-stream.ts'

const SYLLABLES =
  'ba be bi bo bu da de di do du fa fe fi ga ge go ka ke ki ko la le li lo lu ma me mi mo na ne ni no pa pe po ra re ri ro ru sa se si so ta te ti to va ve vi za zo'.split(
    ' ',
  )
const WORDS = 20_000

/**
 * SYNTHETIC words, and how often each is drawn: the probability of the k-th is proportional to 1 / k, as in natural
 * language (Zipf 1949). The same seed gives the same words in the same order.
 */
export function createVocabulary(seed: number): { word(): string; pick<T>(items: readonly T[]): T } {
  const random = randomOf(seed)

  function pick<T>(items: readonly T[]): T {
    return items[Math.floor(random() * items.length)] as T
  }

  return {
    // The inverse of the distribution's logarithm: uniform in log rank.
    word: () => wordAt(Math.floor(WORDS ** random()) - 1),
    pick,
  }
}

/** The word of a rank, 0 being the most frequent: two syllables for the most frequent ones, three for the others. */
export function wordAt(rank: number): string {
  const size = SYLLABLES.length
  const syllables = [rank % size, Math.floor(rank / size) % size, Math.floor(rank / size / size)]
  return syllables.map((i, place) => (place === 2 && i === 0 ? '' : SYLLABLES[i])).join('')
}
