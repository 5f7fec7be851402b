import { NO_SESSION } from '../../calls/call-session.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { Admission } from '../admit/admit.ts'
import { honouredLimit, limitsAt, type ModelLimits } from '../api/answer-limit.ts'
import { askForUsage } from '../api/usage-request.ts'
import { wholeMark } from '../convert/anthropic-cache-marks.ts'
import { mostDroppedOf } from '../convert/drop-inexpressible.ts'
import { type Changes, createChanges } from '../convert/reported-changes.ts'
import { mendedHeaders } from '../dialect/betas.ts'
import type { Facts } from '../dialect/facts.ts'
import { knownLimit } from '../dialect/limit-facts.ts'
import { apiOf, type Mend, mendedFields } from '../dialect/mend.ts'
import { knownMends } from '../dialect/mends.ts'
import { nextMend } from '../dialect/next-mend.ts'
import { refusalIn } from '../dialect/refusal.ts'
import type { Observed } from '../observe/observe.ts'
import { observedIn } from '../observe/observed-reply.ts'
import type { Writing, Written } from '../passages/write-request.ts'
import type { CallReasoning, Reasoning } from '../reasoning/reasoning.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { asciiOf, changedField, readable } from '../relay/request-body.ts'
import type { Client } from '../relay/send.ts'
import { cacheKeyFor, NO_CACHE_KEY } from '../session/cache-key.ts'
import type { Circuit } from '../upstreams/circuits.ts'
import { limitsOf, type ModelChoice } from '../upstreams/provider.ts'
import { circuitOf, type Selection } from './candidate-order.ts'
import { mayHoldState } from './fallback.ts'
import { withRetries } from './retry.ts'

/** Input of an attempt. */
export interface RequestInput {
  call: Admission
  selection: Selection
  /** Field that the previous candidate rejected. Null when none did. */
  refused: string | null
  client: Client
  /** Carries the reasoning of providers. */
  reasoning: Pick<Reasoning, 'of'>
  facts: Facts
}

/** Letters of a prompt that are one token, at least: JSON and code have fewer than prose. */
const LETTERS_PER_TOKEN = 3
/** Least limit beside a prompt that seems to fill the window: the upstream counts its tokens. */
const SHORTEST_ANSWER = 1024
const NOTHING: readonly string[] = []
/** Stands for the context of a call that gets no marks and keys for caches. */
const UNCACHED = { callerId: null, session: NO_SESSION }
/** Most mends that are tried for one call, each with one request more. */
const MOST_MENDS = 4

/** A request that is ready to be sent. */
export interface PreparedRequest {
  /** The model there. Null when none is asked. */
  model: ModelChoice | null
  /** Body sent, for the record, and for estimating usage when the upstream reports none. */
  sent: object
  /** Changes of the request in the candidate's form. */
  changes: Changes
  /** Reasoning of the request and its answer. */
  reasoning: CallReasoning
  /**
   * Sends the request. Retries transient errors, and mends the request when the upstream rejects its form.
   *
   * @throws as `relay.open` and `withRetries`
   */
  send(): Promise<WholeReply | StreamReply>
  /** Usage that replies told which `send` has discarded for another try. */
  discarded: readonly Observed[]
}

/**
 * Writes a request in the form that its candidate accepts.
 *
 * @returns a promise only when the upstream's model list is needed, or numbers that JavaScript cannot represent must be
 *   kept
 * @throws GazewayError `invalid_json` for a request nested too deeply to be serialized, and when the candidate's API
 *   cannot express it
 */
export function prepareRequest(input: RequestInput): PreparedRequest | Promise<PreparedRequest> {
  const { call, selection } = input
  const model = selection.candidate.model(call.context)
  return model instanceof Promise ? model.then((found) => load(input, found)) : load(input, model)
}

/** Input whose reasoning is bound to the caller, the upstream and the model. */
type BoundInput = Omit<RequestInput, 'reasoning'> & { reasoning: CallReasoning }

/** Loads what is needed for the reasoning that the request brings back. */
function load(input: RequestInput, choice: ModelChoice | null): PreparedRequest | Promise<PreparedRequest> {
  const { endpoint, request, context } = input.call
  const { candidate, relay } = input.selection
  const bond = { callerId: context.callerId, upstream: relay.provider.baseUrl, model: choice?.upstream ?? '' }
  const reasoning = input.reasoning.of(bond)
  const { call, selection, refused, client, facts } = input
  const bound = { call, selection, refused, client, facts, reasoning }
  const { seals, answersIn, carriesReasoning = false } = candidate.passage
  const { messages: asked, tools } = endpoint === '/chat/completions' ? request.json : { messages: null }
  const messages = answersIn === undefined ? asked : readable(() => answersIn(request.json))
  const text = seals === undefined ? asciiOf(request) : seals(request.json)
  const loaded = { text, messages, tools, mayBringSummary: mayHoldState(endpoint) }
  const loading = reasoning.load(loaded, carriesReasoning)
  const listing = isLimitOpen(input, choice) ? (candidate.limits?.(context) ?? null) : null
  if (loading === null && listing === null) return write(bound, choice)
  return Promise.all([loading, listing]).then(() => write(bound, choice))
}

/** Tells whether the API of the candidate wants a limit that neither its client set nor the model's list has stated. */
function isLimitOpen({ call, selection }: RequestInput, choice: ModelChoice | null): boolean {
  const { path, passage } = selection.candidate
  if (path !== '/messages' || passage.isConverted !== true || choice === null) return false
  return limitsAt(call.endpoint).every((name) => (call.request.json[name] ?? null) === null)
}

/** Most tokens of an answer that the window leaves beside a prompt. Null when unknown. */
function longestBeside(prompt: string, { maxOutput, context }: ModelLimits): number | null {
  if (maxOutput === null) return null
  const left = context === null ? maxOutput : context - Math.ceil(prompt.length / LETTERS_PER_TOKEN)
  return Math.max(SHORTEST_ANSWER, Math.min(maxOutput, left))
}

/** A request as a candidate gets it, before it is mended. */
interface Draft {
  sent: object
  /** Headers that Gazeway adds. Undefined for most. */
  headers: Readonly<Record<string, string>> | undefined
  writingWith(mends: readonly Mend[]): Writing
}

function write(input: BoundInput, choice: ModelChoice | null): PreparedRequest | Promise<PreparedRequest> {
  const { request, bill } = input.call
  const limit = limitOf(input, choice)
  return prepare(input, choice, limit === bill.answerLimit ? request : withLimit(input.call, limit), limit)
}

/** Limit that Gazeway adds: what the bill allows, and no more than the model has accepted of this key. Null for none. */
function limitOf({ call, selection, facts }: BoundInput, choice: ModelChoice | null): number | null {
  const { bill, context } = call
  const limit = choice === null ? bill.answerLimit : bill.limitAt(choice)
  if (limit === null) return null
  return knownLimit(limit, facts.of(selection.relay.provider.name, choice?.upstream ?? '', context.callerId))
}

/** Sets the limit that Gazeway adds to a request; null to leave it out. */
function withLimit({ endpoint, request }: Admission, limit: number | null): Admission['request'] {
  const [name] = limitsAt(endpoint)
  return name === undefined ? request : changedField(request, name, limit ?? undefined)
}

function draftOf(
  { call, selection, refused, reasoning }: BoundInput,
  choice: ModelChoice | null,
  request: Admission['request'],
  { note }: Changes,
): Draft {
  // The default model of an upstream has no name.
  const model = choice?.upstream ?? ''
  const { context, bill } = call
  const { path, passage } = selection.candidate
  const longestAnswer = choice === null ? null : longestBeside(request.text, limitsOf(choice))
  const { accepts, vendor } = selection.relay.provider
  const cached = context.isCacheOff === true ? UNCACHED : context
  const { session: cachedSession = NO_SESSION } = cached
  const mostDropped = context.isLenient === true ? mostDroppedOf(request.text.length) : 0
  const conversion = {
    refused,
    note,
    mostDropped,
    takesFileUrls: accepts.includes('file_urls'),
    takesCacheMarks: accepts.includes('cache_marks'),
    isAnthropic: vendor === 'anthropic',
    cachedSession,
    longestAnswer,
    model,
    reasoning,
  }
  const convert = (body: object) => passage.convert(body, conversion)
  const named = (body: object) => (model === '' ? body : { ...body, model })
  const own = readable(() => convert(request.json))
  const sent = named(own)
  const forms = passage.isReformed ? accepts : NOTHING
  const cacheKey = cacheKeyFor(forms, path, sent, cached)
  const isChat = passage.isReformed && path === '/chat/completions'
  const added = {
    ...(isChat && bill.isBounded && honouredLimit(sent)),
    ...(isChat && request.json.stream === true && askForUsage(sent)),
    ...cacheKey.fields,
    ...wholeMark(forms, model, sent, cachedSession),
  }
  const ceiling = choice === null ? {} : bill.ceilingAt(choice, sent)
  return {
    sent,
    headers: cacheKey === NO_CACHE_KEY ? undefined : cacheKey.headers,
    writingWith(mends) {
      const fieldsOf = (body: object): Record<string, unknown> => ({
        ...(model !== '' && { model }),
        ...added,
        ...(mends.length > 0 && mendedFields(mends, { ...body, ...added }, note, body as Fields)),
        ...ceiling,
      })
      const isChanged = own !== request.json
      const { headers } = context
      return { request, sent, isChanged, converted: (body) => named(convert(body)), fieldsOf, bill, headers }
    },
  }
}

/** A written request, as it is sent with mends. */
function sendingOf(
  { method, body, headers, cutAtBytes }: Written,
  applied: readonly Mend[],
  terms: { context: Admission['context']; draft: Draft; isStreamed: boolean } & Pick<Selection, 'isLastResort'> & {
      circuit: Circuit | null
    },
) {
  const { context, draft, isStreamed, circuit, isLastResort } = terms
  const { via, traceparent, callerId } = context
  const stream = applied.findLast((mend) => mend.stream !== undefined)?.stream ?? isStreamed
  const given = mendedHeaders(headers, applied)
  const all = draft.headers === undefined ? given : { ...given, ...draft.headers }
  // One literal: Node 20 takes microseconds for each field that is added to a spread.
  return { method, body, stream, cutAtBytes, via, traceparent, callerId, headers: all, circuit, isLastResort }
}

/** @param limit limit of the answer that Gazeway has added. Null for none */
function prepare(
  input: BoundInput,
  choice: ModelChoice | null,
  request: Admission['request'],
  limit: number | null,
): PreparedRequest | Promise<PreparedRequest> {
  const { call, selection, client, reasoning, facts } = input
  const { context } = call
  const { candidate, relay, isLast, isLastResort } = selection
  const { path, passage } = candidate
  // The default model of an upstream has no name.
  const model = choice?.upstream ?? ''
  const circuit = circuitOf(candidate, context)
  const retries = isLast ? call.retries : 0
  const changes = createChanges()
  const discarded: Observed[] = []
  const draft = draftOf(input, choice, request, changes)
  const { sent } = draft
  const isStreamed = request.json.stream === true || (sent as Fields).stream === true
  const api = passage.isReformed ? apiOf(path) : null
  const isMended = api !== null || passage.lowersLimit === true
  const { name: upstream, accepts } = relay.provider
  const known = api === null ? [] : facts.of(upstream, model, context.callerId)
  const mends = api === null ? [] : knownMends(api, known, passage.isConverted === true, accepts)
  const writing = readable(() => draft.writingWith(mends))
  if (passage.answersHere !== undefined)
    return passage
      .answersHere(writing)
      .then((reply) => ({ model: choice, sent, changes, reasoning, send: async () => reply, discarded: [] }))
  const written = passage.write(writing)
  return written instanceof Promise ? written.then(prepared) : prepared(written)

  function prepared(first: Written): PreparedRequest {
    return { model: choice, sent, changes, reasoning, send: () => send(first), discarded }
  }

  function discard(reply: WholeReply | StreamReply): void {
    const observed = observedIn(reply)
    if (observed.usage !== null) discarded.push(observed)
  }

  async function send(first: Written): Promise<WholeReply | StreamReply> {
    let written = first
    let applied = mends
    const met: Mend[] = []
    for (;;) {
      const sending = sendingOf(written, applied, { context, draft, isStreamed, circuit, isLastResort })
      const to = written.target ?? path
      const reply = await withRetries(retries, client, () => relay.open(to, sending, client), discard)
      const names = met.filter(({ isOfCall }) => isOfCall !== true).map(({ name }) => name)
      if (reply.status < 400 && names.length > 0) facts.learn(upstream, model, context.callerId, names)
      if (!isMended || reply.kind !== 'whole' || met.length === MOST_MENDS) return reply
      const refusal = refusalIn(reply)
      if (refusal === null) return reply
      const refused = { body: bodyWith(applied), own: sent as Fields, headers: sending.headers }
      const next = nextMend(path, refusal, applied, refused, limit)
      // Nobody waits for another form, and what was refused costs nothing.
      if (next === null || client.hasLeft?.() === true) return reply
      discard(reply)
      met.push(next)
      applied = [...applied, next]
      written = await passage.write(draft.writingWith(applied))
    }
  }

  /** The request with mends. */
  function bodyWith(applied: readonly Mend[]): Fields {
    return { ...sent, ...draft.writingWith(applied).fieldsOf(sent) }
  }
}
