import { splitEvents } from '../wire/whole-events.ts'
import { refusedField } from './refused-field.ts'
import { JSON_TYPE } from './relay/send.ts'
import { type EventData, eventData } from './relay/sse-tap.ts'
import { isUsageError } from './usage-request.ts'

/** The statuses with which upstreams say that they do not stream. */
const REFUSALS: ReadonlySet<unknown> = new Set([400, 405, 422, 501])

/** What the client returns for a request with `stream`, before it is awaited. */
interface Asked<Piece> {
  withResponse(): Promise<{ data: AsyncIterable<Piece>; response: Response }>
}

/**
 * The reply to a request with `stream`: its pieces, or the whole of it where the upstream does not stream, as some that
 * are compatible with OpenAI's API do not, or refuse to.
 *
 * @param unstreamed asks for the same in one piece
 * @throws SyntaxError when the whole is not valid JSON, else as the `openai` client
 */
export async function streamedReply<Piece, Whole>(
  asked: Asked<Piece>,
  unstreamed: () => Promise<Whole>,
): Promise<{ pieces: AsyncIterable<Piece> } | { whole: Whole }> {
  // The client reads the body only once its pieces are asked for.
  const answered = await asked.withResponse().catch((error: unknown) => {
    if (isRefused(error)) return null
    throw error
  })
  if (answered === null) return { whole: await unstreamed() }
  const { data, response } = answered
  const isWhole = JSON_TYPE.test(response.headers.get('content-type') ?? '')
  return isWhole ? { whole: (await response.json()) as Whole } : { pieces: data }
}

/** Whether an upstream refuses to stream: it names the field, or says so in words. It may only refuse to tell the usage. */
function isRefused(error: unknown): boolean {
  if (isUsageError(error)) return false
  if (!(error instanceof Error && 'status' in error && REFUSALS.has(error.status))) return false
  return refusedField(error) === 'stream' || /\bstream(?:ing|ed)?\b/i.test(error.message)
}

/**
 * The events of a reply to a request without `stream`, where the upstream streams all the same; null for any other reply,
 * which is still to be read.
 */
export async function unaskedEvents(asked: { asResponse(): Promise<Response> }): Promise<EventData[] | null> {
  const response = await asked.asResponse()
  if (!/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) return null
  return splitEvents(Buffer.from(await response.text())).flatMap((event) => eventData(event) ?? [])
}
