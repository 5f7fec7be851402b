import type { CallContext } from '../calls/call-record.ts'
import type { ModelChoice, ModelRole, Provider } from './provider.ts'

/** Models whose names say that they do something else than answer: embed, rank, speak, draw. */
const NOT_FOR_CHAT = /embed|minilm|bge|rerank|whisper|tts|moderation|dall-e|image/i

/** What finding a model needs. */
export interface ModelDeps {
  provider: Provider
  /** The ids that the upstream lists; null while they are not known. */
  listed(context: CallContext): Promise<readonly string[] | null>
}

/**
 * The model of a request: the one that it names, by its alias where there is one, else its role's. One of our own names
 * that this upstream has no alias for is answered by the first model that it lists, so that any base URL works as it is.
 * While that list is not known the name goes upstream as it is.
 *
 * @returns a promise only where the upstream's list is asked for
 */
export function modelFor(
  deps: ModelDeps,
  asked: string | undefined,
  role: ModelRole,
  context: CallContext,
): ModelChoice | Promise<ModelChoice> {
  const choice = deps.provider.resolve(asked, role)
  return deps.provider.isUnassigned(choice.requested) ? standIn(deps, choice, context) : choice
}

async function standIn({ listed }: ModelDeps, choice: ModelChoice, context: CallContext): Promise<ModelChoice> {
  const ids = (await listed(context)) ?? []
  const upstream = ids.includes(choice.requested) ? choice.requested : firstForChat(ids)
  return { ...choice, upstream: upstream ?? choice.requested }
}

/** The first model of a list that can answer, as far as names tell; the first of all where none can. */
export const firstForChat = (ids: readonly string[]): string | undefined =>
  ids.find((id) => !NOT_FOR_CHAT.test(id)) ?? ids[0]

/**
 * The model that chat completions answer with in place of the responses endpoint: the fallback role's, or the client's own
 * where this upstream has none for that role.
 *
 * @param asked what the client named
 */
export function fallbackModel(provider: Provider, asked: string | undefined): string {
  const { requested } = provider.resolve(undefined, 'fallback')
  return provider.isUnassigned(requested) ? (asked ?? requested) : requested
}
