import { type Selectable, sql } from 'kysely'
import type { CallContext } from '../calls/call-record.ts'
import { GazewayError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import type { MemoryRow } from '../store/tables/memory-tables.ts'
import { textOf } from '../text/words.ts'
import type { Embedder } from './embedder.ts'
import { isLive } from './memory-expiry.ts'
import { type Embedded, keepVectors, sourceOf } from './vectors.ts'

/** Memories that are embedded by one call. */
const BATCH = 32
/** Characters of a memory that are embedded: models take some hundred words and more. */
const MOST_CHARACTERS = 2000
/** Error statuses that are not caused by the text of a request. */
const NOT_ABOUT_TEXT = [401, 402, 403, 404, 408, 425, 429]
type Waiting = Pick<Selectable<MemoryRow>, 'seq' | 'space' | 'version' | 'key' | 'value' | 'also' | 'tags'>

/** Embedding progress over all memories. */
export interface EmbeddingProgress {
  memories: number
  embedded: number
}

/** Makes the vectors of memories without a vector, or with one from other settings. */
export function createEmbedMemories(deps: {
  store: Store
  embedder: Embedder
  prefix: string
  now: () => string
  /** Ends the call that is under way. */
  signal: AbortSignal
}) {
  const { store, embedder, prefix, now, signal } = deps
  // The operator pays for what is made in the background, whoever's memory it is.
  const operator: CallContext = { surface: 'stdio', callerId: null, signal }
  /** The length of the newest vectors; null until some are made. */
  let length: number | null = null
  let running: Promise<unknown> = Promise.resolve()

  /** The condition that a row of `memories` waits for its vector. */
  function waits() {
    const embedded = sql.ref('memories.embedded')
    if (length !== null) {
      const source = sourceOf(embedder.source, length)
      return sql<boolean>`(${embedded} < ${source} or ${embedded} > ${source})`
    }
    const [start, end] = [`${embedder.source}@`, `${embedder.source}@\u{10ffff}`]
    return sql<boolean>`(${embedded} < ${start} or ${embedded} > ${end})`
  }

  const textFor = ({ key, value, also, tags }: Waiting): string => {
    const parts = [
      key,
      textOf(JSON.parse(value)).slice(0, MOST_CHARACTERS),
      textOf(JSON.parse(tags)),
      textOf(JSON.parse(also)),
    ]
    return (
      prefix +
      parts
        .filter((part) => part !== '')
        .join('\n')
        .slice(0, MOST_CHARACTERS)
    )
  }

  async function embedBatch(limit: number): Promise<number> {
    const waiting: Waiting[] = await store.db
      .selectFrom('memories')
      .select(['seq', 'space', 'version', 'key', 'value', 'also', 'tags'])
      .where(waits())
      .where(isLive(now()))
      .orderBy('embedded')
      .orderBy('seq')
      .limit(Math.min(BATCH, limit))
      .execute()
    if (waiting.length === 0) return 0
    const vectors = await vectorsOf(waiting)
    const found = vectors.find((vector) => vector !== null)
    if (found) length = found.length
    const embedded = waiting.map(
      ({ seq, space, version }, i): Embedded => ({ seq, space, version, vector: vectors[i] ?? null }),
    )
    await store.write((trx) => keepVectors(trx, sourceOf(embedder.source, length ?? 0), embedded))
    return waiting.length
  }

  /** One for each, or, where the upstream refuses them together, each by itself: one that it cannot take holds up no other. */
  async function vectorsOf(waiting: readonly Waiting[]): Promise<Array<Float32Array | null>> {
    const texts = waiting.map(textFor)
    try {
      return await embedder.embed(texts, operator)
    } catch (error) {
      if (!isAboutText(error)) throw error
    }
    const vectors: Array<Float32Array | null> = []
    for (const text of texts) vectors.push(await alone(text))
    return vectors
  }

  async function alone(text: string): Promise<Float32Array | null> {
    try {
      const [vector] = await embedder.embed([text], operator)
      return vector ?? null
    } catch (error) {
      if (isAboutText(error)) return null
      throw error
    }
  }

  return {
    /** Notes the length of a vector that was made just now. @returns the source of those that compare with it */
    noteLength(newest: number): string {
      length = newest
      return sourceOf(embedder.source, newest)
    },
    /** Makes at most `limit`, one call after another; returns how many. @throws what a call throws; what was made before stays */
    run(limit: number): Promise<number> {
      const next = running
        .catch(() => undefined)
        .then(async () => {
          let made = 0
          for (let more = 1; more > 0 && made < limit && !signal.aborted; made += more)
            more = await embedBatch(limit - made)
          return made
        })
      running = next
      return next
    },
    /** Waits for what is under way. */
    idle: () =>
      running.then(
        () => undefined,
        () => undefined,
      ),
    async progress(): Promise<EmbeddingProgress> {
      const count = async (of: 'all' | 'waiting') => {
        const all = store.reads.selectFrom('memories').select((fn) => fn.fn.countAll<number>().as('count'))
        return (await (of === 'all' ? all : all.where(waits())).executeTakeFirst())?.count ?? 0
      }
      const [memories, waiting] = [await count('all'), await count('waiting')]
      return { memories, embedded: memories - waiting }
    },
  }
}

/** Tells whether an upstream rejected a text, rather than the caller, or everything for a time. */
const isAboutText = (error: unknown): boolean =>
  error instanceof GazewayError &&
  error.upstreamStatus !== undefined &&
  error.upstreamStatus >= 400 &&
  error.upstreamStatus < 500 &&
  !NOT_ABOUT_TEXT.includes(error.upstreamStatus)
