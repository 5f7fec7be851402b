import { join } from 'node:path'
import { OpenAI } from 'openai'
import { createMemory, MemoryInput } from '../src/memory/memory.ts'
import type { AskForVectors, EmbeddingSettings } from '../src/memory/vectors/embedder.ts'
import { createVectorSearch } from '../src/memory/vectors/vector-search.ts'
import { openStore } from '../src/store/open-store.ts'
import type { Store } from '../src/store/store.ts'
import { MODEL_VARIABLE, namesModel, URL_VARIABLE } from './embedding-model.ts'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'
import { FITTED_SET, HELD_OUT_SET, type MemorySet } from './retrieval/memory-sets.ts'
import { type Recall, recallOf } from './retrieval/recall.ts'
import { median } from './stats.ts'

/** Values of `min_similarity` that are tried, ascending. */
const FLOORS = Array.from({ length: 19 }, (_, i) => Number((0.05 * (i + 1)).toFixed(2)))
/** Unanswerable questions that may find something, in percent. */
const MAX_FALSE = 5

/** An embedding model to measure, as the environment names it. */
interface Model {
  name: string
  settings: Omit<EmbeddingSettings, 'min_similarity'>
  ask: AskForVectors
  /** Durations of questions, in milliseconds. */
  times: readonly number[]
}

/**
 * Recall of memories by words and by the vectors of a real model, which the environment names. `min_similarity` is the lowest
 * with which at most 5 % of the unanswerable questions of the fitted set find something beside all other memories; the held-out
 * set is measured with the same.
 *
 * @throws Error where the environment names no model, and as the upstream fails
 */
export async function section(report: Report): Promise<void> {
  if (!namesModel(process.env))
    throw new Error(`Set ${URL_VARIABLE} (such as http://127.0.0.1:11434/v1) and ${MODEL_VARIABLE}.`)
  const model = modelOf(process.env)
  // One that does not answer is told before anything is stored.
  await model.ask({ ...model.settings, input: ['gazeway'] }, { surface: 'stdio', callerId: null })
  const floor = await lowestFloor(model)
  for (const set of [FITTED_SET, HELD_OUT_SET])
    for (const others of [0, set.beside.at(-1) ?? 0]) await addRecall(report, model, { set, others, floor })
  report.add({ what: `${model.name}: a question embedded`, unit: 'ms', figure: median([...model.times]) })
}

function modelOf(env: NodeJS.ProcessEnv): Model {
  const client = new OpenAI({
    baseURL: env[URL_VARIABLE],
    apiKey: env.GAZEWAY_BENCH_EMBEDDINGS_API_KEY || 'none',
  })
  const name = env[MODEL_VARIABLE] ?? ''
  // Each text is embedded once: the floors are tried on the same vectors.
  const known = new Map<string, number[]>()
  const times: number[] = []
  const ask: AskForVectors = async ({ model, input }) => {
    const missing = input.filter((text) => !known.has(text))
    if (missing.length > 0) {
      const begun = performance.now()
      const { data } = await client.embeddings.create({ model, input: missing, encoding_format: 'float' })
      if (missing.length === 1) times.push(performance.now() - begun)
      for (const { index, embedding } of data) known.set(missing[index] ?? '', embedding)
    }
    return { status: 200, body: { data: input.map((text, index) => ({ index, embedding: known.get(text) })) } }
  }
  const settings = {
    upstream: 'bench',
    model: name,
    timeout_ms: 60_000,
    document_prefix: env.GAZEWAY_BENCH_EMBEDDINGS_DOCUMENT_PREFIX ?? '',
    query_prefix: env.GAZEWAY_BENCH_EMBEDDINGS_QUERY_PREFIX ?? '',
  }
  return { name, settings, ask, times }
}

async function lowestFloor(model: Model): Promise<number> {
  return withMemories(FITTED_SET, { others: FITTED_SET.beside.at(-1) ?? 0, withAlso: true }, async (store) => {
    for (const floor of FLOORS)
      if ((await recallBy(store, model, { set: FITTED_SET, floor })).unanswerable <= MAX_FALSE) return floor
    throw new Error(`${model.name}: unanswerable questions find something with every min_similarity.`)
  })
}

async function addRecall(
  report: Report,
  model: Model,
  { set, others, floor }: { set: MemorySet; others: number; floor: number },
): Promise<void> {
  for (const withAlso of [true, false]) {
    const [hybrid, words] = await withMemories(set, { others, withAlso }, async (store) => [
      await recallBy(store, model, { set, floor }),
      await recallOf(createMemory({ store, now: () => new Date() }), set),
    ])
    const where = `${set.facts.length + others} memories${withAlso ? '' : ' without also'}, min_similarity ${floor}`
    const add = (what: string, figure: (recall: Recall) => number | null) => {
      const [ours, alone] = [figure(hybrid), figure(words)]
      if (ours === null || alone === null) return
      const besides = [{ what: 'by words alone', figure: alone }]
      report.add({ what: `${set.label}${model.name}: ${what}, ${where}`, unit: '%', figure: ours, besides })
    }
    add('keyword questions answered among the first 3', ({ keyword }) => keyword)
    add('paraphrased questions answered among the first 3', ({ near }) => near)
    add('questions in yet other words answered among the first 3', ({ far }) => far)
    add('unanswerable questions that find something', ({ unanswerable }) => unanswerable)
  }
}

/** Calls `use` with a store that holds a set and others beside it. */
async function withMemories<Result>(
  set: MemorySet,
  { others, withAlso }: { others: number; withAlso: boolean },
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(`sqlite:${join(temporaryFolder('embeddings'), 'store.db')}`)
  const memory = createMemory({ store, now: () => new Date() })
  for (const { key, value, also } of [...set.others(others), ...set.facts])
    await memory.store(MemoryInput.parse({ key, value, ...(withAlso && { also }) }))
  const result = await use(store)
  await store.close()
  return result
}

async function recallBy(
  store: Store,
  { settings, ask }: Model,
  { set, floor }: { set: MemorySet; floor: number },
): Promise<Recall> {
  const errors: unknown[] = []
  const vectors = createVectorSearch({
    store,
    settings: { ...settings, min_similarity: floor },
    ask,
    now: () => new Date().toISOString(),
    onError: (error) => errors.push(error),
  })
  await vectors.embed(Number.MAX_SAFE_INTEGER)
  const memory = createMemory({ store, now: () => new Date(), vectors: () => vectors })
  const recall = await recallOf(memory, set)
  await vectors.stop()
  // Searches that failed went by words alone: the figures would be of those.
  if (errors.length > 0) throw errors[0]
  return recall
}
