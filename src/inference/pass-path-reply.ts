import type { Identity } from '../identity/identity.ts'
import { readUsage, type Usage } from '../providers/token-usage.ts'
import { isObject, parseJson } from '../text/json.ts'
import type { CallerContext } from './admit.ts'
import type { Bill } from './bill.ts'
import type { BilledReceiver } from './billed-receiver.ts'
import { record } from './convert/loose.ts'
import { badReply, clientGone, hideSecrets, streamFailure } from './failure.ts'
import { NOTHING, type Observed, observedStream, usageOf } from './observe.ts'
import type { OwnObjects } from './own-objects.ts'
import type { PathRequest } from './pass-path.ts'
import type { Provider } from './provider.ts'
import { errorEvent } from './relay/error-event.ts'
import { pump } from './relay/receiver.ts'
import { CLIENT_GONE, endingOf, type StreamReply, tooLarge, WHOLE_LIMIT_BYTES, type WholeReply } from './relay/send.ts'
import { createSseTap } from './relay/sse-tap.ts'
import { bodyText, passedHeaders } from './relay/upstream-reply.ts'
import type { BegunCall, Outcome } from './settle.ts'
import { wantsUsage } from './usage-request.ts'

/** Result of a reply, for the call record. */
export type PassedReply = Outcome & { isHad: boolean }

/** Context of a reply being passed on. */
interface Passing {
  provider: Provider
  held: BilledReceiver
  call: BegunCall
  bill: Bill
  caller: Identity | null
  context: CallerContext
  objects: OwnObjects
}

const EVENT_STREAM = /^text\/event-stream\b/i
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i
/** Largest reply that is inspected. A larger one costs its whole reservation. */
const READ_LIMIT_BYTES = 16 * 1024 * 1024

/** Usage of an answer that was not seen. */
const UNSEEN: Usage = Object.freeze({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, estimated: true })

/** Passes a reply on to its client and reads its usage and ids on the way. */
export async function passReply(
  asked: PathRequest,
  passing: Passing,
  reply: WholeReply | StreamReply,
): Promise<PassedReply> {
  if (reply.kind === 'whole') return passWhole(asked, passing, reply)
  if (EVENT_STREAM.test(String(reply.announced))) return passStream(asked, passing, reply)
  // A file may start like an event stream.
  return passWhole(asked, passing, { ...reply, kind: 'whole', body: await gathered(reply, passing.provider) })
}

async function passWhole(asked: PathRequest, passing: Passing, reply: WholeReply): Promise<PassedReply> {
  const { held, provider } = passing
  const { status } = reply
  const headers = headersOf(passing, reply)
  if (status >= 300) {
    held.whole(status, headers, hideSecrets(bodyText(reply), provider.secrets))
    return { httpStatus: status, error: new Error(`The upstream answered ${status}.`), ...NOTHING, isHad: false }
  }
  const { body } = reply
  const isRead = JSON_TYPE.test(String(reply.announced)) && body.length <= READ_LIMIT_BYTES
  const value = isRead ? parseJson(bodyText(reply)) : undefined
  const visible = asked.route.lists ? await visibleIn(reply, passing) : null
  held.whole(status, headers, visible === null ? body : JSON.stringify(visible))
  const observed = observedIn(asked, value)
  if (isUnseen(asked, passing, observed)) passing.bill.cutOff()
  return { httpStatus: status, error: null, ...observed, isHad: true }
}

async function passStream(asked: PathRequest, passing: Passing, reply: StreamReply): Promise<PassedReply> {
  const { held, call, provider, context } = passing
  const { status } = reply
  const { json } = asked.body
  const dropUsageChunk = asked.route.path === '/completions' && !wantsUsage(json)
  const tap = createSseTap({ dropUsageChunk, secrets: provider.secrets })
  held.head(status, headersOf(passing, reply))
  const stallMs = provider.timeoutMs
  const end = await pump(reply, held, tap, { filter: (events) => events, onFirst: call.firstToken, stallMs })
  const observed = observedStream(tap)
  const isCut = isUnseen(asked, passing, observed)
  if (isCut) passing.bill.cutOff()
  const passed = (error: Error | null): PassedReply => ({
    httpStatus: status,
    error,
    ...observed,
    usage: isCut ? UNSEEN : usageOf(observed, error),
    isHad: true,
  })
  const { done } = tap.ending()
  if (end.kind === 'gone' && !done) return passed(clientGone(endingOf(held)))
  const broken = end.kind === 'broken' && !done ? streamFailure(end.error, provider) : null
  held.end(broken === null ? undefined : errorEvent(asked.route.path, broken, context.requestId, held.nextNumber()))
  return passed(broken ?? tap.failed())
}

/** Tells whether an answer's cost is not in its reply. It then costs its whole reservation. */
const isUnseen = ({ route }: PathRequest, { bill }: Passing, { usage }: Observed): boolean =>
  bill.isBounded && route.cost === 'answer' && route.path !== '/completions' && usage === null

function headersOf({ call, provider, bill }: Passing, { headers, announced }: WholeReply | StreamReply) {
  const origin = { callId: call.callId, provider, attempt: 1, limits: bill.headers }
  return passedHeaders({ ...headers, 'content-type': announced }, origin)
}

/** Usage of a whole reply, or the text to estimate it from. */
function observedIn({ route }: PathRequest, value: unknown): Observed {
  const { usage, choices, id, output_file_id, error_file_id } = record(value)
  const made = route.makes
    ? [id, output_file_id, error_file_id].filter((one): one is string => typeof one === 'string')
    : []
  if (route.cost === 'nothing' || route.cost === 'unbounded') return { ...NOTHING, answer: value, made }
  const said = route.cost === 'input' ? '' : choices
  return {
    usage: readUsage(usage) ?? readUsage({ prompt_tokens: record(usage).total_tokens }),
    said: said === undefined ? null : () => ({ text: said === '' ? '' : JSON.stringify(said), factor: 1 }),
    answer: value,
  }
}

/**
 * Removes the objects of other callers from a list. Null when the caller may see all of it.
 *
 * @throws GazewayError `upstream_bad_reply` when the reply is not such a list
 */
async function visibleIn(reply: WholeReply, { objects, caller, provider }: Passing): Promise<unknown> {
  const list = parseJson(bodyText(reply))
  const all: unknown = isObject(list) ? list.data : list
  if (caller?.scopes.has('admin')) return null
  if (!Array.isArray(all)) throw badReply(provider, 'its reply is not a list')
  const idOf = (one: unknown): string => String(record(one).id)
  const visible = await objects.visible(all.map(idOf), caller)
  const data = all.filter((one) => visible.has(idOf(one)))
  if (data.length === all.length) return null
  if (!isObject(list)) return data
  const ends = { first_id: record(data[0]).id ?? null, last_id: record(data.at(-1)).id ?? null }
  return { ...list, data, ...('first_id' in list && ends) }
}

/** Collects a reply that began as a stream. */
function gathered({ consume, exchange }: StreamReply, provider: Provider): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    consume({
      onData(chunk) {
        size += chunk.length
        if (size <= WHOLE_LIMIT_BYTES) return void chunks.push(chunk)
        reject(tooLarge(provider))
        exchange.abort()
      },
      onEnd: () => resolve(Buffer.concat(chunks)),
      onError: (error) => reject(error === CLIENT_GONE ? error : streamFailure(error, provider)),
    })
  })
}
