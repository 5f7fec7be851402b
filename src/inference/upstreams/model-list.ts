import type { CallContext } from '../../calls/call-record.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { ModelLimits } from '../api/answer-limit.ts'
import { type ListedFacts, readListedFacts } from './listed-facts.ts'
import { DEFAULT_UPSTREAM, type Provider } from './provider.ts'

/** Lifetime of an upstream's list, in milliseconds. */
const FRESH_MS = 60_000
/** Pause after an upstream failed to list its models, in milliseconds. */
const PAUSE_MS = 5_000
/** Time limit for listing models, in milliseconds. After it only the aliases are listed. */
const PATIENCE_MS = 5_000

/** Lifetime of the token limits that a list states, in milliseconds. */
const LIMITS_FRESH_MS = 3_600_000

/** A model in OpenAI's format. */
export interface Model {
  id: string
  object: 'model'
  /** Unix seconds. */
  created: number
  owned_by: string
  /** Present when the model has no price. */
  priced?: false
}

/** Models of an upstream, and Gazeway's own names for them. */
export interface ModelList {
  /** Ids that the upstream lists, in its order. Null while unknown. */
  listed(context: CallContext): Promise<readonly string[] | null>
  /**
   * Models that clients can request: own names that resolve to a listed model, then the list. While the upstream is
   * down, only the names. Models of an upstream in `upstreams` are named `NAME/ID`.
   */
  all(context: CallContext): Promise<Model[]>
  /** Names for an error, from the cache without a request; the catalogue when nothing is cached. */
  known(): readonly string[]
  /**
   * Tells whether the catalogue or the cached list has a name, with or without `NAME/`. Takes the same time for any
   * name.
   */
  knows(name: string): boolean
  /** Facts that the last list states of a model, by its id at the upstream. */
  factsOf(id: string): ListedFacts
  /**
   * Fetches the list for the token limits and prices that it states.
   *
   * @returns null when they are known, or the list states none
   */
  limits(context: CallContext): Promise<unknown> | null
  /** The last fetch. Null before the first. */
  fetched(): FetchedList | null
}

/** A fetch of an upstream's list. It is no call, so operators find it here and not in the audit trail. */
export interface FetchedList {
  /** RFC 3339 UTC. */
  at: string
  /** Reason why there is no list. Null when there is one. */
  error: string | null
}

/** Requests an upstream's list. */
type AskForModels = (context: CallContext) => Promise<{ status: number; body: unknown }>

/**
 * Creates the list of models that clients can request. The upstream's list is fetched at most once a minute.
 *
 * @param options.askForModels fetches the list
 */
export function createModelList(options: {
  provider: Provider
  askForModels: AskForModels
  now: () => Date
}): ModelList {
  const { provider, askForModels, now } = options
  const started = Math.floor(now().getTime() / 1000)
  const upstream = createListFetch(askForModels, now, provider)
  const prefix = provider.id === DEFAULT_UPSTREAM ? '' : `${provider.id}/`
  const catalogued = Object.keys(provider.catalogue).map((id) => prefix + id)

  function shown(models: readonly Model[] | null): Model[] {
    const lacking = new Set(models === null ? [] : lackingNames(provider, idsOf(models)))
    const own = provider.aliases.filter((id) => !lacking.has(id))
    const names = new Set(own)
    const all = [
      ...own.map((id) => ({ id, object: 'model' as const, created: started, owned_by: 'gazeway' })),
      ...(models ?? []).filter(({ id }) => !names.has(id)),
    ]
    return prefix === '' ? all : all.map((model) => ({ ...model, id: prefix + model.id }))
  }

  function known(): string[] {
    const list = upstream.list()
    return [...idsOf(shown(list)), ...(list === null ? catalogued : [])]
  }

  let named: { by: Model[] | null; names: ReadonlySet<string> } | undefined

  function names(): ReadonlySet<string> {
    const list = upstream.list()
    if (named === undefined || named.by !== list) {
      const all = [...known(), ...catalogued]
      named = { by: list, names: new Set([...all, ...all.map((name) => name.slice(prefix.length))]) }
    }
    return named.names
  }

  return {
    listed: async (context) => (await upstream.present(context))?.map(({ id }) => id) ?? null,
    all: async (context) => shown(await upstream.present(context)),
    known,
    knows: (name) => names().has(name),
    factsOf: (id) => upstream.facts().get(id) ?? NO_FACTS,
    limits: provider.listsLimits || provider.listing !== null ? upstream.limits : () => null,
    fetched: upstream.fetched,
  }
}

const NO_FACTS: ListedFacts = {}

/** Fetches the list of an upstream whenever the last one is old. */
function createListFetch(
  askForModels: AskForModels,
  now: () => Date,
  { limits, listing }: Pick<Provider, 'limits' | 'listing'>,
) {
  let list: Model[] | null = null
  let facts: ReadonlyMap<string, ListedFacts> = new Map()
  let limitsStaleAt = 0
  /** The first fetch for limits. Later ones run beside calls. */
  let limitsAsked: Promise<unknown> | null = null
  let staleAt = 0
  let asking: Promise<void> | undefined
  let fetched: FetchedList | null = null

  async function ask(context: CallContext): Promise<void> {
    const began = now().getTime()
    const at = now().toISOString()
    const signal = AbortSignal.timeout(PATIENCE_MS)
    try {
      const { status, body } = await askForModels({ ...context, signal })
      fetched = { at, error: status < 300 ? null : `It answered ${status}.` }
      const isBusy = status === 429
      // It is rate limited, not down: keep the earlier list.
      if (!isBusy) list = status < 300 ? readModels(body) : null
      if (status < 300) {
        limits.list(readLimits(body))
        facts = readListedFacts(body)
        listing?.take(body, now())
      }
      staleAt = began + (isBusy || status >= 500 ? PAUSE_MS : FRESH_MS)
    } catch (error) {
      fetched = { at, error: error instanceof Error ? error.message : String(error) }
      // Continue without the upstream: a later call to it reports why it is down.
      list = null
      staleAt = began + PAUSE_MS
    }
  }
  async function present(context: CallContext): Promise<Model[] | null> {
    if (now().getTime() >= staleAt)
      asking ??= ask(context).finally(() => {
        asking = undefined
      })
    await asking
    return list
  }
  return {
    present,
    limits(context: CallContext): Promise<unknown> | null {
      const at = now().getTime()
      if (at < limitsStaleAt) return limitsAsked
      const isFirst = limitsStaleAt === 0
      limitsStaleAt = at + LIMITS_FRESH_MS
      // Not a request of the caller, whose limits it does not touch.
      const asked = present({ ...context, callerId: null }).then((found) => {
        limitsAsked = null
        if (found === null) limitsStaleAt = now().getTime() + FRESH_MS
      })
      if (isFirst) limitsAsked = asked
      return limitsAsked
    },
    /** The last list. Null while unknown. */
    list: () => list,
    facts: () => facts,
    fetched: () => fetched,
  }
}

/** Names of models that the upstream does not list. Ollama lists `llama3.2` as `llama3.2:latest`. */
export function lackingNames(provider: Pick<Provider, 'aliases' | 'resolve'>, ids: readonly string[]): string[] {
  const listed = new Set(ids)
  return provider.aliases.filter((name) => {
    const { upstream } = provider.resolve(name, 'chat')
    return !listed.has(upstream) && !listed.has(`${upstream}:latest`)
  })
}

export const idsOf = (models: readonly Model[]): string[] => models.map(({ id }) => id)

/** Reads OpenAI's list, or a bare list as Together sends it. Null when there is no list. */
export function readModels(body: unknown): Model[] | null {
  const entries = Array.isArray(body) ? body : fieldsOrNone(body).data
  if (!Array.isArray(entries)) return null
  return objectsOrNone(entries).flatMap((entry: Partial<Model> & { created_at?: unknown }) =>
    typeof entry.id === 'string'
      ? [
          {
            id: entry.id,
            object: 'model' as const,
            created: createdAt(entry),
            owned_by: typeof entry.owned_by === 'string' ? entry.owned_by : 'upstream',
          },
        ]
      : [],
  )
}

/** The last second that a date can have. */
const LAST_SECOND = 8.64e12

/** Unix seconds: OpenAI's `created`, or Anthropic's `created_at`. 0 when unknown. */
function createdAt({ created, created_at }: { created?: unknown; created_at?: unknown }): number {
  if (Number.isSafeInteger(created) && Math.abs(created as number) <= LAST_SECOND) return created as number
  const at = typeof created_at === 'string' ? Date.parse(created_at) : Number.NaN
  return Number.isFinite(at) ? Math.floor(at / 1000) : 0
}

/**
 * Reads the token limits in a list, by the names that OpenRouter, Groq, Anthropic, Together, Mistral and vLLM give them.
 */
function readLimits(body: unknown): ReadonlyMap<string, ModelLimits> {
  const entries = Array.isArray(body) ? body : fieldsOrNone(body).data
  const limits = new Map<string, ModelLimits>()
  for (const entry of objectsOrNone(entries)) {
    const top = fieldsOrNone(entry.top_provider)
    limits.set(String(entry.id), {
      maxOutput: firstCount(top.max_completion_tokens, entry.max_completion_tokens, entry.max_tokens),
      context: firstCount(
        top.context_length,
        entry.context_length,
        entry.context_window,
        entry.max_input_tokens,
        entry.max_context_length,
        entry.max_model_len,
      ),
    })
  }
  return limits
}

const firstCount = (...values: unknown[]): number | null =>
  (values.find((value) => Number.isSafeInteger(value) && (value as number) > 0) as number | undefined) ?? null
