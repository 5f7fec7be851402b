import type { Admission } from '../admit/admit.ts'
import { billedFields } from '../admit/worst-case.ts'
import { honouredLimit } from '../api/answer-limit.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { convertedText, readable, requestBody } from '../relay/request-body.ts'
import type { Client } from '../relay/send.ts'
import type { ModelChoice } from '../upstreams/provider.ts'
import { circuitOf, type Selection } from './attempt-order.ts'
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
  model: ModelChoice
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
  choice: ModelChoice,
): PreparedRequest | Promise<PreparedRequest> {
  const { request, context, bill } = call
  const { candidate, relay, isLast, isLastResort } = selection
  const { path, passage } = candidate
  const model = choice.upstream
  const circuit = circuitOf(candidate, context)
  const retries = isLast ? call.retries : 0
  const converted = (body: object) => ({ ...passage.convert(body, refused), model })
  const sent = readable(() => converted(request.json))
  const stream = request.json.stream === true
  const formed: Formed = { provider: relay.provider, model, isChat: path === '/chat/completions', json: sent, stream }
  const bodyIn = (form: RequestForm) => {
    const fields = { model, ...formFields(form, formed) }
    if (passage.keepsBytes) {
      const limit = formed.isChat && !form.renamesLimit ? honouredLimit(request.json) : {}
      const fieldsSent = bill.isBounded ? { ...billedFields(request.json), ...limit, ...fields } : fields
      return requestBody(request, fieldsSent)
    }
    return convertedText(request.text, { ...sent, ...fields }, (body) => ({ ...converted(body), ...fields }))
  }
  const form = firstForm(formed)
  const body = bodyIn(form)
  return body instanceof Promise ? body.then(prepared) : prepared(body)

  function prepared(written: string | Buffer): PreparedRequest {
    return { model: choice, sent, send: () => send(form, written) }
  }

  async function send(form: RequestForm, body: string | Buffer): Promise<WholeReply | StreamReply> {
    for (;;) {
      const sending = {
        body,
        stream: form.stream,
        via: context.via,
        headers: passage.keepsBytes ? context.headers : undefined,
        circuit,
        isLastResort,
      }
      const reply = await withRetries(retries, client, () => relay.open(path, sending, client))
      const next = reply.kind === 'whole' ? nextForm(form, reply, formed) : null
      if (next === null) {
        if (reply.status < 400) keepForm(form, formed)
        return reply
      }
      form = next
      body = await bodyIn(form)
    }
  }
}
