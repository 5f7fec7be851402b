import { refusedField } from './refused-field.ts'

/** What asks for the usage of a stream. */
export const WITH_USAGE = { stream_options: { include_usage: true } }

const FIELD = 'stream_options'
const REFUSALS: ReadonlySet<unknown> = new Set([400, 422])
/** So many models are remembered; clients may make up any number of names. */
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
export const isUsageRefused = (status: unknown, said: string): boolean => REFUSALS.has(status) && said.includes(FIELD)

/** The same of the `openai` client's error. */
export function isUsageError(error: unknown): boolean {
  if (!(error instanceof Error && 'status' in error)) return false
  return isUsageRefused(error.status, `${refusedField(error)} ${error.message}`)
}

/**
 * Asks for a stream and for its usage; where that is refused, once more for the stream alone.
 *
 * @param model the provider's id
 * @throws as `ask`
 */
export async function askForUsage<Reply>(
  requests: UsageRequests,
  model: string,
  ask: (fields: Partial<typeof WITH_USAGE>) => Promise<Reply>,
): Promise<Reply> {
  if (!requests.fits(model)) return ask({})
  try {
    return await ask(WITH_USAGE)
  } catch (error) {
    if (!isUsageError(error)) throw error
    const reply = await ask({})
    requests.leaveOut(model)
    return reply
  }
}
