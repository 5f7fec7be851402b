import { type Base, logged } from '../../base.ts'
import type { CallContext } from '../../calls/call-record.ts'
import type { Config } from '../../config/config-schema.ts'
import type { Store } from '../../store/store.ts'
import { inTime } from '../../wire/with-timeout.ts'
import type { Hit, SearchScope } from '../search/memory-search.ts'
import { createEmbedMemories, type EmbeddingProgress } from './embed-memories.ts'
import { type AskForVectors, createEmbedder, type EmbeddingSettings } from './embedder.ts'
import { createVectorIndex } from './vector-index.ts'

/** Time in milliseconds for which searches use words only, after a question could not be embedded. */
const REST_MS = 30_000
/** Delay in milliseconds between storing a memory and creating its vector, so that vectors are created in batches. */
const SOON_MS = 500
/** Maximum number of vectors that are created after this delay. */
const SOON = 128
/** Timeout of the check of `gazeway doctor`, in milliseconds. */
const CHECK_MS = 10_000
/** Characters of a question that are embedded. */
const MAX_CHARACTERS = 2000

/** Search of a store's memories by vectors. */
export interface VectorSearch {
  /** Returns the nearest memories, best first; null when the question's vector was late or could not be created. */
  find(query: string, scope: SearchScope, context: CallContext): Promise<Hit[] | null>
  /** Schedules the vectors of memories that were just stored. */
  soon(): void
  /** Creates at most `limit` missing vectors and returns their number. */
  embed(limit: number): Promise<number>
  /** Embeds a test text. Returns the progress, and in `failure` why the text could not be embedded, or null. */
  check(): Promise<EmbeddingProgress & { failure: string | null }>
  /** Stops creating vectors: cancels the running call and waits for its end. */
  stop(): Promise<void>
}

/** Creates the search by vectors, with the upstream and model of `settings`. */
export function createVectorSearch(deps: {
  store: Store
  settings: EmbeddingSettings
  ask: AskForVectors
  now: () => string
  onError: (error: unknown) => void
}): VectorSearch {
  const { store, settings, ask, now, onError } = deps
  const { timeout_ms, query_prefix, document_prefix: prefix, min_similarity: least } = settings
  const embedder = createEmbedder(settings, ask)
  const stopping = new AbortController()
  const memories = createEmbedMemories({ store, embedder, prefix, now, signal: stopping.signal })
  const nearestNeighbours = createVectorIndex(store)
  let restsUntil = 0
  let timer: NodeJS.Timeout | undefined

  async function hitsFor(query: string, { filter, held }: SearchScope, context: CallContext): Promise<Hit[]> {
    const text = query_prefix + query.slice(0, MAX_CHARACTERS)
    const [vector] = await embedder.embed([text], context)
    if (vector === undefined) return []
    return nearestNeighbours(vector, { source: memories.noteLength(vector.length), filter, memories: held, least })
  }

  return {
    async find(query, scope, context) {
      if (query.trim() === '' || performance.now() < restsUntil) return null
      const ending = new AbortController()
      const signal = context.signal ? AbortSignal.any([context.signal, ending.signal]) : ending.signal
      const hits = hitsFor(query, scope, { ...context, signal, onText: undefined, onStep: undefined })
      const found = await inTime(timeout_ms, hits).catch((error) => {
        onError(error)
        return undefined
      })
      if (found !== undefined) return found
      hits.catch(() => undefined)
      ending.abort()
      if (!context.signal?.aborted) restsUntil = performance.now() + REST_MS
      return null
    },
    soon() {
      if (stopping.signal.aborted) return
      timer ??= setTimeout(() => {
        timer = undefined
        memories.run(SOON).catch((error) => {
          if (!stopping.signal.aborted) onError(error)
        })
      }, SOON_MS).unref()
    },
    embed: (limit) => memories.run(limit),
    async check() {
      const context: CallContext = { surface: 'stdio', callerId: null, signal: AbortSignal.timeout(CHECK_MS) }
      const failure = await embedder.embed(['gazeway doctor'], context).then(
        ([vector]) => void memories.noteLength(vector?.length ?? 0),
        (error) => (error instanceof Error ? error.message : String(error)),
      )
      return { ...(await memories.progress()), failure: failure ?? null }
    },
    stop() {
      clearTimeout(timer)
      stopping.abort()
      return memories.idle()
    },
  }
}

/** Search by vectors with the settings in force. */
interface LiveVectors {
  /** Null while no model is set. */
  current(): VectorSearch | null
  stop(): Promise<void>
}

/** Follows the settings of embeddings. */
export function liveVectors(base: Base, ask: AskForVectors): LiveVectors {
  const { store, now, config } = base
  const create = ({ model, ...settings }: Config['memory']['embeddings']) =>
    model === null
      ? null
      : createVectorSearch({
          store,
          settings: { model, ...settings },
          ask,
          now: () => now().toISOString(),
          onError: logged(base, 'Failed to embed memories; will retry.', 'warn'),
        })
  const { now: newest } = config.hotReload(
    ({ memory }) => memory.embeddings,
    (settings) => ({ search: create(settings) }),
  )
  const current = () => newest().search
  return { current, stop: async () => current()?.stop() }
}
