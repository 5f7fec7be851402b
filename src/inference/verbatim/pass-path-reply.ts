import type { GazewayError } from '../../errors.ts'
import { readUsage, type Usage } from '../../providers/token-usage.ts'
import { isObject, parseJson } from '../../text/json.ts'
import { record, records } from '../../text/loose.ts'
import type { CallerContext } from '../admit/admit.ts'
import type { Bill } from '../admit/bill.ts'
import type { Caller, OwnObjects } from '../admit/own-objects.ts'
import { wantsUsage } from '../api/usage-request.ts'
import { NOTHING, type Observed, observedStream } from '../observe/observe.ts'
import { createSseTap, eventData } from '../observe/sse-tap.ts'
import { errorEvent } from '../passages/error-event.ts'
import { heldChunks } from '../passages/held-chunks.ts'
import { type Answered, answered, type Failed, failed } from '../passages/passage.ts'
import { bodyText, passedHeaders, readRefusal } from '../passages/upstream-reply.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { pump, type Receiver } from '../relay/receiver.ts'
import { CLIENT_GONE, endingOf, tooLarge, WHOLE_LIMIT_BYTES } from '../relay/send.ts'
import type { BilledReceiver } from '../settle/billed-receiver.ts'
import type { BegunCall } from '../settle/settle.ts'
import { badReply, clientGone, endedEarly, hideSecrets, refusal, streamFailure } from '../upstreams/failure.ts'
import type { Provider } from '../upstreams/provider.ts'
import type { PathRequest } from './path-request.ts'

/** Context of a reply being passed on. */
interface Passing {
  provider: Provider
  held: BilledReceiver
  /** Receiver of the reply: `held`, or one that holds the beginning of a stream back. */
  receiver: Receiver
  /** Number of the attempt, from 1. */
  attempt: number
  call: BegunCall
  bill: Bill
  caller: Caller
  context: CallerContext
  objects: OwnObjects
}

const EVENT_STREAM = /^text\/event-stream\b/i
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i
/** Largest reply that is inspected. A larger one costs its whole reservation. */
const READ_LIMIT_BYTES = 16 * 1024 * 1024

/** Usage of an answer that was not seen. */
const UNSEEN: Usage = Object.freeze({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, estimated: true })

/**
 * Passes a reply on to its client and reads its usage and ids on the way. An error reply is not passed on: another
 * upstream may answer.
 */
export async function passReply(
  asked: PathRequest,
  passing: Passing,
  reply: WholeReply | StreamReply,
): Promise<Answered | Failed> {
  if (reply.kind === 'whole') return passWhole(asked, passing, reply)
  if (EVENT_STREAM.test(String(reply.announced))) return passStream(asked, passing, reply)
  // A file may start like an event stream.
  return passWhole(asked, passing, { ...reply, kind: 'whole', body: await gathered(reply, passing.provider) })
}

async function passWhole(asked: PathRequest, passing: Passing, reply: WholeReply): Promise<Answered | Failed> {
  const { receiver, provider, context } = passing
  const { status } = reply
  if (status >= 400) {
    const { error } = readRefusal(reply, provider, context.requestId)
    return failed(refusal(error, reply, provider), status, NOTHING, { refused: reply })
  }
  const headers = headersOf(passing, reply)
  if (status >= 300) {
    receiver.whole(status, headers, hideSecrets(bodyText(reply), provider.secrets))
    return answered(status, NOTHING, badReply(provider, `it redirects (${status})`))
  }
  const { body } = reply
  const isRead = JSON_TYPE.test(String(reply.announced)) && body.length <= READ_LIMIT_BYTES
  const value = isRead ? parseJson(bodyText(reply)) : undefined
  const visible = asked.route.lists ? await visibleIn(reply, passing) : null
  receiver.whole(status, headers, visible === null ? body : JSON.stringify(visible))
  const observed = observedIn(asked, value)
  if (isUnseen(asked, passing, observed)) passing.bill.cutOff()
  return answered(status, observed)
}

/** Passes a stream on. While another upstream could answer, it begins with the first output and may fail before. */
async function passStream(asked: PathRequest, passing: Passing, reply: StreamReply): Promise<Answered | Failed> {
  const { receiver, held, call, provider, context } = passing
  const { status } = reply
  const { json } = asked.body
  const { path } = asked.route
  const dropUsageChunk = path === '/completions' && !wantsUsage(json)
  const tap = createSseTap({ dropUsageChunk, secrets: provider.secrets })
  const headers = headersOf(passing, reply)
  const begin = () => receiver.head(status, headers)
  const chunks = receiver.hold === undefined ? null : heldChunks(tap, begin, path === '/completions' ? isText : isEvent)
  if (chunks === null) begin()
  else receiver.hold?.(status, headers)
  const filter = chunks?.filter ?? ((events: Buffer) => events)
  const end = await pump(reply, receiver, tap, { filter, onFirst: call.firstToken, stallMs: provider.timeoutMs })
  const observed = observedStream(tap)
  const { done } = tap.ending()
  const reported = tap.failed()
  const failure = reported && streamFailure(reported, provider)
  const broken = end.kind === 'broken' && !done ? streamFailure(end.error, provider) : null
  const rest = chunks?.rest() ?? null
  if (rest !== null && end.kind !== 'gone') {
    const why = failure ?? broken ?? (done ? null : endedEarly(provider))
    if (why !== null) return { ...failed(why, status, observed), isStreamed: true }
    // An empty answer.
    begin()
    receiver.write(rest)
  }
  const isCut = isUnseen(asked, passing, observed)
  if (isCut) passing.bill.cutOff()
  const passed = (error: GazewayError | null): Answered =>
    answered(status, isCut ? { ...observed, usage: UNSEEN, isOutdated: undefined } : observed, error)
  if (end.kind === 'gone' && !done) return passed(clientGone(endingOf(held)))
  receiver.end(broken === null ? undefined : errorEvent(path, broken, context.requestId, held.nextNumber()))
  return passed(broken ?? failure)
}

const isEvent = (event: Buffer): boolean => eventData(event) !== null

/** Tells whether an event of a legacy completion has a part of the answer, or its end. */
const isText = (event: Buffer): boolean =>
  records(eventData(event)?.choices).some(({ text, finish_reason }) => Boolean(text) || Boolean(finish_reason))

/** Tells whether an answer's cost is not in its reply. It then costs its whole reservation. */
const isUnseen = ({ route }: PathRequest, { bill }: Passing, { usage }: Observed): boolean =>
  bill.isBounded && route.cost === 'answer' && route.path !== '/completions' && usage === null

function headersOf({ call, provider, bill, attempt }: Passing, { headers, announced }: WholeReply | StreamReply) {
  const origin = { callId: call.callId, provider, attempt, limits: bill.headers }
  return passedHeaders({ ...headers, 'content-type': announced }, origin)
}

/** Usage of a whole reply, or the text to estimate it from. */
function observedIn({ route }: PathRequest, value: unknown): Observed {
  const { usage, service_tier, choices, id, output_file_id, error_file_id } = record(value)
  const made = route.makes
    ? [id, output_file_id, error_file_id].filter((one): one is string => typeof one === 'string')
    : []
  if (route.cost === 'nothing' || route.cost === 'unbounded') return { ...NOTHING, answer: value, made }
  const generated = route.cost === 'input' ? '' : choices
  return {
    usage: readUsage(usage) ?? readUsage({ prompt_tokens: record(usage).total_tokens }),
    serviceTier: service_tier,
    generated:
      generated === undefined ? null : () => ({ text: generated === '' ? '' : JSON.stringify(generated), factor: 1 }),
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
