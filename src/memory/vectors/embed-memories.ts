import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { CallContext } from '../../calls/call-record.ts'
import { GazewayError } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import type { MemoryRow } from '../../store/tables/memory-tables.ts'
import { textOf } from '../../text/words.ts'
import { isLive } from '../records/memory-expiry.ts'
import type { Embedder } from './embedder.ts'
import { type Embedded, keepVectors, sourceOf } from './vectors.ts'

/** Memories that one call embeds. */
const BATCH = 32
/** Characters of a memory that are embedded; models accept at least some hundred words. */
const MAX_CHARACTERS = 2000
/** Error statuses that are not caused by the text of a request. */
const NOT_ABOUT_TEXT = [401, 402, 403, 404, 408, 425, 429]
type Waiting = Pick<Selectable<MemoryRow>, 'seq' | 'space' | 'version' | 'key' | 'value' | 'also' | 'tags'>

/** Embedding progress over all memories. */
export interface EmbeddingProgress {
  memories: number
  embedded: number
}

/** Dependencies of {@link createEmbedMemories}. */
interface EmbedMemoriesDeps {
  store: Store
  embedder: Embedder
  prefix: string
  now: () => string
  /** Cancels the running call. */
  signal: AbortSignal
}

/** Creates vectors for memories that have none, or one from other settings. */
export function createEmbedMemories(deps: EmbedMemoriesDeps) {
  const { store, embedder, prefix, now, signal } = deps
  // The operator pays for background calls, for memories of every owner.
  const operator: CallContext = { surface: 'stdio', callerId: null, signal }
  /** Length of the newest vectors; null before the first. */
  let length: number | null = null
  let running: Promise<unknown> = Promise.resolve()

  async function embedBatch(limit: number): Promise<number> {
    const waiting: Waiting[] = await store.db
      .selectFrom('memories')
      .select(['seq', 'space', 'version', 'key', 'value', 'also', 'tags'])
      .where(waitsFor(embedder.source, length))
      .where(isLive(now()))
      .orderBy('embedded')
      .orderBy('seq')
      .limit(Math.min(BATCH, limit))
      .execute()
    if (waiting.length === 0) return 0
    const vectors = await embedTogether(
      embedder,
      waiting.map((memory) => prefix + textOfMemory(memory)),
      operator,
    )
    const found = vectors.find((vector) => vector !== null)
    if (found) length = found.length
    const embedded = waiting.map(
      ({ seq, space, version }, i): Embedded => ({ seq, space, version, vector: vectors[i] ?? null }),
    )
    await store.write((trx) => keepVectors(trx, sourceOf(embedder.source, length ?? 0), embedded))
    return waiting.length
  }

  return {
    /** Records the length of a new vector. @returns the source whose vectors have this length and are comparable */
    noteLength(newest: number): string {
      length = newest
      return sourceOf(embedder.source, newest)
    },
    /**
     * Creates at most `limit` vectors, in batches, and returns their number. @throws the error of a call; earlier
     * vectors are kept
     */
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
    /** Waits for the running calls to end. */
    idle: () =>
      running.then(
        () => undefined,
        () => undefined,
      ),
    progress: () => progressOf(store.reads, waitsFor(embedder.source, length)),
  }
}

/** Tells whether an upstream rejected a text, rather than the caller or all requests. */
const isAboutText = (error: unknown): boolean =>
  error instanceof GazewayError &&
  error.upstreamStatus !== undefined &&
  error.upstreamStatus >= 400 &&
  error.upstreamStatus < 500 &&
  !NOT_ABOUT_TEXT.includes(error.upstreamStatus)

/** SQL condition: a row of `memories` waits for its vector. @param length of the newest vectors; null before the first */
function waitsFor(source: string, length: number | null) {
  const embedded = sql.ref('memories.embedded')
  if (length !== null) {
    const exact = sourceOf(source, length)
    return sql<boolean>`(${embedded} < ${exact} or ${embedded} > ${exact})`
  }
  const [start, end] = [`${source}@`, `${source}@\u{10ffff}`]
  return sql<boolean>`(${embedded} < ${start} or ${embedded} > ${end})`
}

function textOfMemory({ key, value, also, tags }: Waiting): string {
  const parts = [
    key,
    textOf(JSON.parse(value)).slice(0, MAX_CHARACTERS),
    textOf(JSON.parse(tags)),
    textOf(JSON.parse(also)),
  ]
  const filled = parts.filter((part) => part !== '')
  return filled.join('\n').slice(0, MAX_CHARACTERS)
}

/** Embeds texts together. When the upstream refuses them, embeds each alone, so that one bad text blocks no other. */
async function embedTogether(
  embedder: Embedder,
  texts: readonly string[],
  context: CallContext,
): Promise<Array<Float32Array | null>> {
  try {
    return await embedder.embed(texts, context)
  } catch (error) {
    if (!isAboutText(error)) throw error
    if (texts.length === 1) return [null]
  }
  const vectors: Array<Float32Array | null> = []
  for (const text of texts) vectors.push(...(await embedTogether(embedder, [text], context)))
  return vectors
}

async function progressOf(db: Store['reads'], waits: RawBuilder<boolean>): Promise<EmbeddingProgress> {
  const all = db.selectFrom('memories').select((fn) => fn.fn.countAll<number>().as('count'))
  const [memories, waiting] = [await all.executeTakeFirst(), await all.where(waits).executeTakeFirst()]
  return { memories: memories?.count ?? 0, embedded: (memories?.count ?? 0) - (waiting?.count ?? 0) }
}
