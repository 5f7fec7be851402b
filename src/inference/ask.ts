import type { Admission } from './admit.ts'
import type { Asking } from './attempt-order.ts'
import { billedFields } from './call-bound.ts'
import type { ModelChoice } from './provider.ts'
import { convertedText, readable, requestBody } from './relay/request-body.ts'
import type { Client, StreamReply, WholeReply } from './relay/send.ts'
import { type Formed, firstForm, formFields, keepForm, nextForm, type RequestForm } from './request-form.ts'
import { withRetries } from './retry.ts'

/** What a candidate is to be asked. */
export interface ToAsk {
  call: Admission
  asking: Asking
  /** The field that the candidate before has refused; null for none. */
  refused: string | null
  client: Client
}

/** A request that is written and can be sent. */
export interface Asked {
  model: ModelChoice
  /** What is asked, to record it and to count it where the upstream reports no usage. */
  sent: object
  /**
   * Sends it, after transient errors again, and in another form where the upstream refuses one.
   *
   * @throws as `relay.open` and `withRetries`
   */
  send(): Promise<WholeReply | StreamReply>
}

/**
 * Writes a request as its candidate takes it.
 *
 * @throws GazewayError `invalid_json` for a request that is nested so deeply that it can be read but not written, and where
 *   the API of the candidate cannot express it
 */
export async function ask({ call, asking, refused, client }: ToAsk): Promise<Asked> {
  const { request, context, bill } = call
  const { candidate, relay, isLast } = asking
  const { path, passage } = candidate
  const found = candidate.model(context)
  const choice = found instanceof Promise ? await found : found
  const model = choice.upstream
  const retries = isLast ? call.retries : 0
  const converted = (body: object) => ({ ...passage.convert(body, refused), model })
  const sent = readable(() => converted(request.json))
  const stream = request.json.stream === true
  const formed: Formed = { provider: relay.provider, model, isChat: path === '/chat/completions', json: sent, stream }
  const write = (form: RequestForm) => {
    const fields = { model, ...formFields(form, formed) }
    if (passage.keepsBytes) {
      const told = bill.isBounded ? { ...billedFields(request.json), ...fields } : fields
      return requestBody(request, { ...sent, ...told }, told)
    }
    return convertedText(request.text, { ...sent, ...fields }, (body) => ({ ...converted(body), ...fields }))
  }
  let form = firstForm(formed)
  let body = await write(form)

  async function send(): Promise<WholeReply | StreamReply> {
    for (;;) {
      const asked = {
        body,
        stream: form.stream,
        via: context.via,
        headers: passage.keepsBytes ? context.headers : undefined,
      }
      const reply = await withRetries(retries, client, () => relay.open(path, asked, client))
      const next = reply.kind === 'whole' ? nextForm(form, reply, formed) : null
      if (next === null) {
        if (reply.status < 400) keepForm(form, formed)
        return reply
      }
      form = next
      body = await write(form)
    }
  }
  return { model: choice, sent, send }
}
