import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { MemoryInput } from '../src/memory/memory.ts'
import { keepMemory } from '../src/memory/records/store-memory.ts'
import { openStore } from '../src/store/open-store.ts'
import type { Store } from '../src/store/store.ts'
import { createVocabulary } from './vocabulary.ts'

/** Memories of one transaction while seeding: several, so that the text index has grown in steps as in use. */
const BATCH = 1000
const WORDS_OF_A_VALUE = 14
const SEED = 1
const STORE = 'gazeway.db'
const TAGS = ['deploy', 'style', 'api', 'database', 'testing', 'people', 'decision', 'incident']

/** A memory of the bench: its value is a text. */
export type TextMemory = MemoryInput & { value: string; tags: string[] }

/** SYNTHETIC memories, one with each call: a key of two words and a number, a text of 14 words, one tag. */
export function createMemories(seed: number): () => TextMemory {
  const { word, pick } = createVocabulary(seed)
  let made = 0
  return () => ({
    namespace: 'default',
    key: `${word()}/${word()}-${seed}-${++made}`,
    value: Array.from({ length: WORDS_OF_A_VALUE }, word).join(' '),
    tags: [pick(TAGS)],
  })
}

/** The seeded memories, the first `count`: what the data folders hold. */
export function seededMemories(count: number): TextMemory[] {
  return Array.from({ length: count }, createMemories(SEED))
}

/** The data folder below `folder` that holds so many memories. */
export function dataFolder(folder: string, count: number): string {
  return join(folder, `${count}`)
}

/** Opens the store of a data folder, where the command would find it. */
export function openData(data: string): Promise<Store> {
  return openStore(`sqlite:${join(data, STORE)}`)
}

/**
 * A data folder for each size, filled by the code that stores a memory (it differs from use only in that a thousand
 * share a transaction). Each grows out of a copy of the one before.
 *
 * @param sizes how many memories, ascending
 */
export async function seedData(folder: string, sizes: readonly number[]): Promise<void> {
  const memories = seededMemories(sizes.at(-1) ?? 0)
  let held = 0
  for (const [i, size] of sizes.entries()) {
    const data = dataFolder(folder, size)
    mkdirSync(data)
    const before = sizes[i - 1]
    if (before !== undefined) copyFileSync(join(dataFolder(folder, before), STORE), join(data, STORE))
    const store = await openData(data)
    for (; held < size; held += BATCH) await storeTogether(store, memories.slice(held, Math.min(held + BATCH, size)))
    await store.close()
  }
}

/** Stores memories in one transaction. */
export function storeTogether(store: Store, memories: readonly MemoryInput[]): Promise<void> {
  const now = new Date().toISOString()
  return store.write(async (trx) => {
    for (const memory of memories) await keepMemory(trx, 0, memory, now)
  })
}

/** One of the first `size` memories, another with each turn, from all over them. */
export function spread<T extends TextMemory>(memories: readonly T[], turn: number, size = memories.length): T {
  return memories[(turn * 7919) % size] as T
}

/** The kinds of queries that people and models write, made from the words of a memory that is to be found. */
export const QUERIES: Record<string, (words: readonly string[]) => string> = {
  'a telling word': tellingWord,
  'the beginning of one': (words) => tellingWord(words).slice(0, -1),
  'one with a typo': (words) => tellingWord(words).replace(/^(..)./, '$1x'),
  'two words': (words) => words.slice(2, 4).join(' '),
  'eight words': (words) => words.slice(4, 12).join(' '),
}

/** A word that few memories hold: of a frequent one the peer returns every memory, for tens of megabytes. */
function tellingWord(words: readonly string[]): string {
  return words.find((word) => word.length > 4) ?? words.join(' ')
}
