const FIELD = 'stream_options'
const REFUSALS: ReadonlySet<number> = new Set([400, 422])
/** Tells whether an error reply is about the request for usage, or repeats it. */
export const isUsageRefused = (status: number, message: string): boolean =>
  REFUSALS.has(status) && message.includes(FIELD)

/** Fields that request the usage of a stream, beside the client's own options. */
export const askForUsage = (request: object): Record<string, unknown> => ({
  [FIELD]: { ...ownOptions(request), include_usage: true },
})

/** The client's own stream options. They are always sent, even when an upstream rejects them. */
export function ownOptions(request: object): object | null {
  const { [FIELD]: own } = request as Record<string, unknown>
  return own ? (own as object) : null
}

/** Tells whether the client asked for the usage of its stream, in OpenAI's or OpenRouter's way. */
export function wantsUsage(request: object): boolean {
  const { usage } = request as { usage?: { include?: unknown } | null }
  const { include_usage } = (ownOptions(request) ?? {}) as { include_usage?: unknown }
  return include_usage === true || usage?.include === true
}

/** Change that removes the stream options from a request. */
export const WITHOUT_OPTIONS = { [FIELD]: undefined }
