import type { CallContext } from '../calls/call-record.ts'
import { record, records } from './convert/loose.ts'
import type { PassthroughReply } from './passthrough.ts'
import { DEFAULT_UPSTREAM, type Provider } from './provider.ts'

/** How long the upstream's list is believed. */
const FRESH_MS = 60_000
/** How long an upstream that could not be asked, or did not answer for now, is left alone. */
const PAUSE_MS = 5_000
/** How long the upstream may take to list its models before the aliases stand alone. */
const PATIENCE_MS = 5_000

/** A model in OpenAI's form. */
export interface Model {
  id: string
  object: 'model'
  /** Unix seconds. */
  created: number
  owned_by: string
}

/** The models of an upstream, and of our own what stands for one of them. */
export interface ModelList {
  /** The ids that the upstream lists, in its order; null while they are not known. */
  listed(context: CallContext): Promise<readonly string[] | null>
  /**
   * What clients can ask for: our names for models that the upstream lists, then its list; while it is down, our names. Those
   * of an upstream among `upstreams` are `NAME/ID`.
   */
  all(context: CallContext): Promise<Model[]>
  /** The same as far as it is known, without asking. */
  known(): readonly string[]
}

/** Asks the upstream for its list. */
type AskForModels = (context: CallContext) => Promise<PassthroughReply>

/**
 * The models that clients can ask for. The upstream is asked for its own once a minute at most.
 *
 * @param options.askForModels for a client, which the audit trail shows
 * @param options.lookUp for Gazeway itself, which it does not
 */
export function createModelList(options: {
  provider: Provider
  askForModels: AskForModels
  lookUp: AskForModels
  now: () => Date
}): ModelList {
  const { provider, askForModels, lookUp, now } = options
  const started = Math.floor(now().getTime() / 1000)
  let list: Model[] | null = null
  let staleAt = 0
  let asking: Promise<void> | undefined

  async function ask(by: AskForModels, context: CallContext): Promise<void> {
    const began = now().getTime()
    const signal = AbortSignal.timeout(PATIENCE_MS)
    try {
      const { status, body } = await by({ ...context, signal })
      const isBusy = status === 429
      // It is up: what it listed before is still there.
      if (!isBusy) list = status < 300 ? readModels(body) : null
      staleAt = began + (isBusy || status >= 500 ? PAUSE_MS : FRESH_MS)
    } catch {
      // The list goes on without the upstream: whoever asks it for an answer is told why it is down.
      list = null
      staleAt = began + PAUSE_MS
    }
  }

  async function present(by: AskForModels, context: CallContext): Promise<Model[] | null> {
    if (now().getTime() >= staleAt)
      asking ??= ask(by, context).finally(() => {
        asking = undefined
      })
    await asking
    return list
  }

  const prefix = provider.id === DEFAULT_UPSTREAM ? '' : `${provider.id}/`

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

  return {
    listed: async (context) => (await present(lookUp, context))?.map(({ id }) => id) ?? null,
    all: async (context) => shown(await present(askForModels, context)),
    known: () => idsOf(shown(list)),
  }
}

/** The names that have an id at this upstream which it does not list. Ollama lists `llama3.2` as `llama3.2:latest`. */
export function lackingNames(provider: Pick<Provider, 'aliases' | 'resolve'>, ids: readonly string[]): string[] {
  const listed = new Set(ids)
  return provider.aliases.filter((name) => {
    const { upstream } = provider.resolve(name, 'chat')
    return !listed.has(upstream) && !listed.has(`${upstream}:latest`)
  })
}

export const idsOf = (models: readonly Model[]): string[] => models.map(({ id }) => id)

/** The models in OpenAI's list, or in a list alone, as Together answers; null where there is no list. */
export function readModels(body: unknown): Model[] | null {
  const entries = Array.isArray(body) ? body : record(body).data
  if (!Array.isArray(entries)) return null
  return records(entries).flatMap((entry: Partial<Model>) =>
    typeof entry.id === 'string'
      ? [
          {
            id: entry.id,
            object: 'model' as const,
            created: Number.isSafeInteger(entry.created) ? (entry.created as number) : 0,
            owned_by: typeof entry.owned_by === 'string' ? entry.owned_by : 'upstream',
          },
        ]
      : [],
  )
}
