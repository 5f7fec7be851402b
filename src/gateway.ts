import type { LoadedConfig } from './config/config.ts'
import { type ContextInput, createContext, renderContext, type WorkContext } from './context/context.ts'
import { createGaze, type Gaze, type GazeAnalysis } from './gaze/gaze.ts'
import { type Narrative, NO_NARRATIVE, narrate } from './gaze/narrate.ts'
import { createIdempotency, type Idempotency } from './idempotency/idempotency.ts'
import { createKeys, type Keys } from './identity/keys.ts'
import type { Log } from './log.ts'
import { createMemory, type MemoryService } from './memory/memory.ts'
import { createResearch, type Research } from './research/research.ts'
import { openStore } from './store/open.ts'
import type { Store } from './store/store.ts'
import { createTokenCounter } from './tokens.ts'
import type { CallContext } from './upstream/call-record.ts'
import { type Calls, createCalls } from './upstream/calls.ts'
import { createUpstream, type Upstream } from './upstream/upstream.ts'
import { createWallet, type Wallet } from './wallet/wallet.ts'

/** The newest gaze records that one attestation assesses. */
const ATTESTED_RECORDS = 1000
/** The time that a session's records must span before they are judged, in milliseconds. */
const ATTESTED_DURATION_MS = 5000
/** The places, latest seen first, that the work context weighs. */
const WEIGHED_PLACES = 2000

/** Everything that a tool or a route can use, wired once per process. */
export interface Gateway {
  loaded: LoadedConfig
  log: Log
  store: Store
  memory: MemoryService
  gaze: Gaze & {
    /** An analysis with its narrative, where one is wanted and an upstream can write it. */
    explain(
      query: Parameters<Gaze['analyze']>[0] & { question?: string | undefined; narrate: boolean },
      context: CallContext,
    ): Promise<GazeAnalysis & Narrative>
  }
  context: {
    /** The work context of a project. @throws see `createContext` */
    get(input: ContextInput, projectRoot: string, signal?: AbortSignal): Promise<WorkContext>
    /** The same as a model reads it. */
    text(input: ContextInput, projectRoot: string, signal?: AbortSignal): Promise<{ text: string; tokens: number }>
  }
  calls: Calls
  upstream: Upstream
  research: Research
  keys: Keys
  idempotency: Idempotency
  wallet: Wallet
  /** Writes what is queued and closes the store. */
  close(): Promise<void>
}

/**
 * Opens the store and wires the services.
 *
 * @throws GazewayError `store_unavailable`, `store_corrupt`, `store_too_new` or `config_invalid`
 */
export async function createGateway(loaded: LoadedConfig, log: Log): Promise<Gateway> {
  const { config } = loaded
  const store = await openStore(loaded.storeUrl)
  const now = () => new Date()
  const countTokens = createTokenCounter()
  const memory = createMemory({ store, now })
  const calls = createCalls({ store, onError: (err) => log.error('Call records could not be written.', { err }) })
  const keys = createKeys({
    store,
    now,
    fixedKey: config.identity.api_key,
    onError: (err) => log.error('Keys could not be read or noted.', { err }),
  })
  const idempotency = createIdempotency({
    store,
    now,
    onError: (err) => log.error('The outcome under an idempotency key could not be noted.', { err }),
  })
  const upstream = createUpstream({
    config: config.upstream,
    calls,
    prices: config.pricing,
    storeContent: config.audit.store_content,
    countTokens,
  })
  const wallet = createWallet({
    store,
    upstream,
    config: config.wallet,
    pricing: config.pricing,
    countTokens,
    now,
    onError: (err) => log.error('Money that was set aside could not be given back yet.', { err }),
  })
  const gaze = createGaze({
    store,
    config: {
      minScore: config.gaze.min_score,
      recordsNeeded: config.gaze.records_needed,
      maxAgeSeconds: config.gaze.max_age_seconds,
      windowRecords: ATTESTED_RECORDS,
      minDurationMs: ATTESTED_DURATION_MS,
    },
    now,
  })
  const { get } = createContext({
    dwell: (query) => gaze.dwell({ ...query, limit: WEIGHED_PLACES }),
    async memories({ query, limit }) {
      if (query === undefined) return (await memory.recent({ limit })).items
      return (await memory.search({ query, limit })).results.map((result) => result.memory)
    },
    countTokens,
    now,
  })
  const context: Gateway['context'] = {
    get,
    async text(input, projectRoot, signal) {
      const found = await get(input, projectRoot, signal)
      return { text: renderContext(found), tokens: found.tokens }
    },
  }

  return {
    loaded,
    log,
    store,
    memory,
    gaze: {
      ...gaze,
      async explain({ question, narrate: wanted, ...range }, callContext) {
        const analysis = await gaze.analyze(range)
        if (!wanted) return { ...analysis, ...NO_NARRATIVE }
        const told = await narrate(analysis, question, async (system, user) => {
          const messages = [
            { role: 'system' as const, content: system },
            { role: 'user' as const, content: user },
          ]
          const { value, callId } = await upstream.chat({ messages }, callContext)
          return { text: value.choices[0]?.message.content ?? '', callId }
        })
        return { ...analysis, ...told }
      },
    },
    context,
    calls,
    upstream,
    research: createResearch({ upstream, workContext: context.text }),
    keys,
    idempotency,
    wallet,
    async close() {
      try {
        await keys.close()
        await calls.flush()
      } finally {
        await store.close()
      }
    },
  }
}
