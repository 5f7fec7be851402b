import type { CallContext } from '../../calls/call-record.ts'
import type { ModelChoice, ModelRole, Provider } from './provider.ts'

/** Names of models that do not chat: embeddings, ranking, speech, images. */
const NOT_FOR_CHAT = /embed|minilm|bge|rerank|whisper|tts|moderation|dall-e|image/i

/** Dependencies of {@link modelFor}. */
export interface ModelDeps {
  provider: Provider
  /** Ids that the upstream lists. Null while unknown. */
  listed(context: CallContext): Promise<readonly string[] | null>
}

/**
 * Resolves the model of a request: the requested one, by its alias if there is one, otherwise the role's. When the
 * upstream has no alias for one of Gazeway's own names, the first model that it lists answers, so that any base URL
 * works unconfigured. While its list is unknown, the name is sent unchanged.
 *
 * @returns a promise only when the upstream's list must be fetched
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
  if (ids.includes(choice.requested)) return choice
  const upstream = firstForChat(ids)
  return upstream === undefined ? choice : { ...choice, upstream, isStandIn: true }
}

/**
 * First model in a list that can chat, judged by name; otherwise the first one.
 *
 * @example firstForChat(['bge-m3', 'llama3.2']) // 'llama3.2'
 */
export const firstForChat = (ids: readonly string[]): string | undefined =>
  ids.find((id) => !NOT_FOR_CHAT.test(id)) ?? ids[0]

/**
 * Model for chat completions when they stand in for the responses endpoint: the fallback role's, or the client's own
 * when the upstream has none.
 *
 * @param asked model that the client requested
 */
export function fallbackModel(provider: Provider, asked: string | undefined): string {
  const { requested } = provider.resolve(undefined, 'fallback')
  return provider.isUnassigned(requested) ? (asked ?? requested) : requested
}
