import { parseJson } from '../../text/json.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { isLimitRefused, renamedLimit } from '../api/answer-limit.ts'
import { askForUsage, isUsageRefused, ownOptions, WITHOUT_OPTIONS } from '../api/usage-request.ts'
import { bodyText } from '../passages/upstream-reply.ts'
import type { WholeReply } from '../relay/exchange.ts'
import type { Provider } from '../upstreams/provider.ts'

/**
 * Form in which a request is sent. When an upstream rejects one, the request is sent again in another: without asking
 * for usage, with the other name of the token limit, or without streaming.
 */
export interface RequestForm {
  asksForUsage: boolean
  renamesLimit: boolean
  stream: boolean
}

/** Properties of a request that determine its form. */
export interface Formed {
  provider: Pick<Provider, 'usageRequests' | 'limits'>
  /** Model id at the upstream. */
  model: string
  /** True for a chat completion. The Responses API always reports usage, and has one name for the limit. */
  isChat: boolean
  /** Body to send, before its form is applied. */
  json: object
  stream: boolean
}

/** Statuses of an upstream that does not stream. */
const NO_STREAM: ReadonlySet<number> = new Set([400, 405, 422, 501])

/** Selects the first form to try, by the known facts about the model. */
export function firstForm({ provider, model, isChat, json, stream }: Formed): RequestForm {
  return {
    asksForUsage: isChat && stream && (ownOptions(json) !== null || provider.usageRequests.fits(model)),
    renamesLimit: isChat && provider.limits.isRenamed(model),
    stream,
  }
}

/** Changes that a form makes to a request, by field name. Undefined removes a field. */
export function formFields(
  { asksForUsage, renamesLimit, stream }: RequestForm,
  formed: Formed,
): Record<string, unknown> {
  return {
    ...(asksForUsage ? askForUsage(formed.json) : {}),
    ...(renamesLimit ? renamedLimit(formed.json) : {}),
    ...(formed.stream && !stream ? { stream: undefined, ...WITHOUT_OPTIONS } : {}),
  }
}

/** Form to try after an error. Null when the error is about something else. */
export function nextForm(
  form: RequestForm,
  reply: WholeReply,
  { provider, model, isChat, json }: Formed,
): RequestForm | null {
  if (reply.status < 400) return null
  const message = reasonIn(reply)
  if (form.asksForUsage && ownOptions(json) === null && isUsageRefused(reply.status, bodyText(reply)))
    return { ...form, asksForUsage: false }
  const field = refusedBy(reply)
  if (isChat && !form.renamesLimit && isLimitRefused(field, message)) {
    provider.limits.rename(model)
    return { ...form, renamesLimit: true }
  }
  if (form.stream && isStreamRefused(reply, field, message)) return { ...form, stream: false, asksForUsage: false }
  return null
}

/** Remembers the form that was accepted: the next request to the model starts with it. */
export function keepForm(form: RequestForm, { provider, model, isChat, stream, json }: Formed): void {
  if (isChat && stream && form.stream && !form.asksForUsage && ownOptions(json) === null)
    provider.usageRequests.leaveOut(model)
}

/** Field that an error refers to. Null when it names none. */
export function refusedBy(reply: WholeReply): string | null {
  if (reply.status !== 400 && reply.status !== 422) return null
  return refusedField(fieldsOrNone(parseJson(bodyText(reply))).error)
}

/** Reason in an error reply: its usual fields, otherwise the whole text. */
export function reasonIn(reply: WholeReply): string {
  const text = bodyText(reply)
  const body = fieldsOrNone(parseJson(text))
  const { message } = fieldsOrNone(body.error ?? body)
  return typeof message === 'string' ? message : text
}

/**
 * Tells whether an upstream refuses to stream: it names the field, or says so in words. An error that is only about
 * usage does not count.
 */
function isStreamRefused(reply: WholeReply, field: string | null, message: string): boolean {
  if (!NO_STREAM.has(reply.status) || isUsageRefused(reply.status, bodyText(reply))) return false
  return field === 'stream' || /\bstream(?:ing|ed)?\b/i.test(message)
}

/** Field of a request that an upstream's error refers to. Null when it names none. */
function refusedField(error: unknown): string | null {
  return error !== null && typeof error === 'object' && 'param' in error && typeof error.param === 'string'
    ? error.param
    : null
}
