import { createMemory, MemorySearch } from '../src/memory/memory.ts'
import { type AskForVectors, createEmbedder, type EmbeddingSettings } from '../src/memory/vectors/embedder.ts'
import { quantize } from '../src/memory/vectors/quantized.ts'
import { createVectorSearch } from '../src/memory/vectors/vector-search.ts'
import { sourceOf } from '../src/memory/vectors/vectors.ts'
import type { Store } from '../src/store/store.ts'
import { randomOf } from '../test/gaze/human-stream.ts'
import { openData, type TextMemory } from './memories.ts'
import type { Report } from './report.ts'
import { median } from './stats.ts'

const LENGTH = 768
const SETTINGS: EmbeddingSettings = {
  upstream: 'synthetic',
  model: 'synthetic',
  timeout_ms: 60_000,
  document_prefix: '',
  query_prefix: '',
  min_similarity: 0.3,
}
/** Rows of one statement. */
const PART = 500
/** Amplitude of the noise in a question's vector, relative to the vector of its memory. */
const NOISE = 0.3
const WARMUPS = 5
const ROUNDS = 60

/**
 * Searches by words and vectors in the service itself. The vectors are SYNTHETIC: random directions, that of a question near
 * that of a memory. It is at hand at once, so that the model and the way to it are not measured.
 *
 * @param data a data folder with `memories`, whose vectors are added
 */
export async function measureHybrid(report: Report, data: string, memories: readonly TextMemory[]): Promise<void> {
  const store = await openData(data)
  const asked = new Map<string, number>()
  const ask: AskForVectors = async ({ input }) => ({
    status: 200,
    body: { data: input.map((text) => ({ embedding: [...vectorOf(asked.get(text) ?? 0, NOISE)] })) },
  })
  await addVectors(store, sourceOf(createEmbedder(SETTINGS, ask).source, LENGTH), memories.length)
  const vectors = createVectorSearch({
    store,
    settings: SETTINGS,
    ask,
    now: () => new Date().toISOString(),
    onError: (error) => {
      throw error
    },
  })
  const memory = createMemory({ store, now: () => new Date(), vectors: () => vectors })
  const times: number[] = []
  for (let turn = 0; turn < WARMUPS + ROUNDS; turn++) {
    const at = (turn * 7919) % memories.length
    const query = (memories[at]?.value ?? '').split(' ').slice(2, 4).join(' ')
    asked.set(query, at)
    const begun = performance.now()
    const { mode } = await memory.search(MemorySearch.parse({ query }))
    if (turn >= WARMUPS) times.push(performance.now() - begun)
    if (mode !== 'hybrid') throw new Error(`The search was ${mode}.`)
  }
  await vectors.stop()
  await store.close()
  report.add({
    what: `hybrid search of two words, ${memories.length.toLocaleString('en')} memories × ${LENGTH}, without the question's own vector`,
    unit: 'ms',
    figure: median(times),
    bar: { atMost: 15 },
  })
}

/** The vector of a memory, the same each time; with noise a question's. */
function vectorOf(memory: number, noise = 0): Float32Array {
  const random = randomOf(memory + 1)
  const other = randomOf(memory + 1_000_003)
  return Float32Array.from({ length: LENGTH }, () => random() - 0.5 + noise * (other() - 0.5))
}

async function addVectors(store: Store, source: string, count: number): Promise<void> {
  const memories = await store.db.selectFrom('memories').select('seq').orderBy('seq').limit(count).execute()
  for (let at = 0; at < memories.length; at += PART) {
    const rows = memories
      .slice(at, at + PART)
      .map(({ seq }, i) => ({ seq, space: 0, source, ...quantize(vectorOf(at + i)) }))
    await store.write((trx) => trx.insertInto('memory_vectors').values(rows).execute())
  }
}
