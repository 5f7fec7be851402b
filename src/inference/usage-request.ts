const FIELD = 'stream_options'
const REFUSALS: ReadonlySet<number> = new Set([400, 422])
/** At most this many models are remembered: clients may make up any number of names. */
const REMEMBERED = 1000

/** Which of a provider's models can be asked for the usage of their streams: some providers refuse what they do not know. */
export interface UsageRequests {
  /** @param model the provider's id */
  fits(model: string): boolean
  /** Notes that a model answers only where it is not asked. */
  leaveOut(model: string): void
}

/** All can, until one is found that cannot. */
export function createUsageRequests(): UsageRequests {
  const left = new Set<string>()
  return {
    fits: (model) => !left.has(model),
    leaveOut(model) {
      if (left.size < REMEMBERED) left.add(model)
    },
  }
}

/** Whether a provider refuses to be asked for usage, or repeats in its refusal a request that asks for it. */
export const isUsageRefused = (status: number, said: string): boolean => REFUSALS.has(status) && said.includes(FIELD)

/** What asks for the usage of a stream, beside the client's own options for it. */
export const askForUsage = (request: object): Record<string, unknown> => ({
  [FIELD]: { ...ownOptions(request), include_usage: true },
})

/** The client's own options of its stream; an upstream that refuses those is not asked without them. */
export function ownOptions(request: object): object | null {
  const { [FIELD]: own } = request as Record<string, unknown>
  return own ? (own as object) : null
}

/** Whether the client wants to be told the usage of its stream, in OpenAI's way or in OpenRouter's. */
export function wantsUsage(request: object): boolean {
  const { usage } = request as { usage?: { include?: unknown } | null }
  const { include_usage } = (ownOptions(request) ?? {}) as { include_usage?: unknown }
  return include_usage === true || usage?.include === true
}

/** What takes the options of a stream out of a request that asks for none. */
export const WITHOUT_OPTIONS = { [FIELD]: undefined }
