import type { CallContext } from './call-record.ts'
import { record, records } from './convert/loose.ts'
import type { PassthroughReply } from './passthrough.ts'
import type { Provider } from './provider.ts'

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

/**
 * The models that clients can ask for: our own aliases, then what the upstream lists; while it is down, the aliases alone.
 */
export function createModelList(options: {
  provider: Provider
  askForModels: (context: CallContext) => Promise<PassthroughReply>
  now: () => Date
}): (context: CallContext) => Promise<Model[]> {
  const { provider, askForModels, now } = options
  const started = Math.floor(now().getTime() / 1000)
  const aliases = provider.aliases.map((id) => ({
    id,
    object: 'model' as const,
    created: started,
    owned_by: 'gazeway',
  }))
  let listed: Model[] = []
  let staleAt = 0
  let asking: Promise<void> | undefined

  async function ask(context: CallContext): Promise<void> {
    const began = now().getTime()
    const signal = AbortSignal.timeout(PATIENCE_MS)
    try {
      const { status, body } = await askForModels({ ...context, signal })
      const isBusy = status === 429
      // It is up: what it listed before is still there.
      if (!isBusy) listed = status < 300 ? readModels(body) : []
      staleAt = began + (isBusy || status >= 500 ? PAUSE_MS : FRESH_MS)
    } catch {
      // The failed call is in the audit trail; the list goes on without the upstream.
      listed = []
      staleAt = began + PAUSE_MS
    }
  }

  return async (context) => {
    if (now().getTime() >= staleAt)
      asking ??= ask(context).finally(() => {
        asking = undefined
      })
    await asking
    const known = new Set(aliases.map(({ id }) => id))
    return [...aliases, ...listed.filter(({ id }) => !known.has(id))]
  }
}

/** The models in OpenAI's list, or in a list alone, as Together answers. */
function readModels(body: unknown): Model[] {
  return records(Array.isArray(body) ? body : record(body).data).flatMap((entry: Partial<Model>) =>
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
