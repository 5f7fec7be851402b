import type { Admission } from '../admit/admit.ts'
import { honouredLimit } from '../api/answer-limit.ts'
import type { Writing, Written } from '../passages/write-request.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { readable } from '../relay/request-body.ts'
import type { Client } from '../relay/send.ts'
import type { ModelChoice } from '../upstreams/provider.ts'
import { circuitOf, type Selection } from './candidate-order.ts'
import { type Formed, firstForm, formFields, keepForm, nextForm, type RequestForm } from './request-form.ts'
import { withRetries } from './retry.ts'

/** Input of an attempt. */
export interface RequestInput {
  call: Admission
  selection: Selection
  /** Field that the previous candidate rejected. Null when none did. */
  refused: string | null
  client: Client
}

/** A request that is ready to be sent. */
export interface PreparedRequest {
  /** The model there. Null when none is asked. */
  model: ModelChoice | null
  /** Body sent, for the record, and for estimating usage when the upstream reports none. */
  sent: object
  /**
   * Sends the request. Retries transient errors, and rewrites the request when the upstream rejects its form.
   *
   * @throws as `relay.open` and `withRetries`
   */
  send(): Promise<WholeReply | StreamReply>
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
  return model instanceof Promise ? model.then((found) => write(input, found)) : write(input, model)
}

function write(
  { call, selection, refused, client }: RequestInput,
  choice: ModelChoice | null,
): PreparedRequest | Promise<PreparedRequest> {
  const { request, context, bill } = call
  const { candidate, relay, isLast, isLastResort } = selection
  const { path, passage } = candidate
  // The default model of an upstream has no name.
  const model = choice?.upstream ?? ''
  const circuit = circuitOf(candidate, context)
  const retries = isLast ? call.retries : 0
  const converted = (body: object) =>
    model === '' ? passage.convert(body, refused) : { ...passage.convert(body, refused), model }
  const sent = readable(() => converted(request.json))
  const stream = request.json.stream === true
  const isChat = passage.isReformed && path === '/chat/completions'
  const formed: Formed = { provider: relay.provider, model, isChat, json: sent, stream }
  const writingIn = (form: RequestForm): Writing => {
    const fields = model === '' ? formFields(form, formed) : { model, ...formFields(form, formed) }
    const isLimited = bill.isBounded && isChat && !form.renamesLimit
    return {
      request,
      sent,
      converted,
      fields: isLimited ? { ...honouredLimit(sent), ...fields } : fields,
      bill,
      headers: context.headers,
    }
  }
  const form = firstForm(formed)
  if (passage.answersHere !== undefined)
    return passage.answersHere(writingIn(form)).then((reply) => ({ model: choice, sent, send: async () => reply }))
  const written = passage.write(writingIn(form))
  return written instanceof Promise ? written.then(prepared) : prepared(written)

  function prepared(first: Written): PreparedRequest {
    return { model: choice, sent, send: () => send(form, first) }
  }

  async function send(form: RequestForm, written: Written): Promise<WholeReply | StreamReply> {
    for (;;) {
      const { method, target, body, headers, cutAtBytes } = written
      const { stream } = form
      const { via, callerId } = context
      const sending = { method, body, stream, cutAtBytes, via, callerId, headers, circuit, isLastResort }
      const reply = await withRetries(retries, client, () => relay.open(target ?? path, sending, client))
      if (!passage.isReformed) return reply
      const next = reply.kind === 'whole' ? nextForm(form, reply, formed) : null
      if (next === null) {
        if (reply.status < 400) keepForm(form, formed)
        return reply
      }
      form = next
      written = await passage.write(writingIn(form))
    }
  }
}
