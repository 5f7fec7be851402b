import { parseJson } from '../text/json.ts'
import { isLimitRefused, renamedLimit } from './answer-limit.ts'
import { record } from './convert/loose.ts'
import type { Provider } from './provider.ts'
import { refusedField } from './refused-field.ts'
import type { WholeReply } from './relay/send.ts'
import { bodyText } from './relay/upstream-reply.ts'
import { askForUsage, isUsageRefused, ownOptions, WITHOUT_OPTIONS } from './usage-request.ts'

/**
 * In which form a request is sent. An upstream that refuses one form of it gets it once more in another: without asking for
 * usage, with the limit of the answer by its other name, or in one piece.
 */
export interface RequestForm {
  asksForUsage: boolean
  renamesLimit: boolean
  stream: boolean
}

/** A request as far as its form is concerned. */
export interface Formed {
  provider: Pick<Provider, 'usageRequests' | 'limits'>
  /** The upstream's id. */
  model: string
  /** Whether it is a chat completion: the Responses API reports usage unasked, and has one name for the limit. */
  isChat: boolean
  /** What is to be sent, before its form. */
  json: object
  stream: boolean
}

/** The statuses with which upstreams say that they do not stream. */
const NO_STREAM: ReadonlySet<number> = new Set([400, 405, 422, 501])

/** The form of the first request, by what is known of the model. */
export function firstForm({ provider, model, isChat, json, stream }: Formed): RequestForm {
  return {
    asksForUsage: isChat && stream && (ownOptions(json) !== null || provider.usageRequests.fits(model)),
    renamesLimit: isChat && provider.limits.isRenamed(model),
    stream,
  }
}

/** The fields that a form gives a request, by name; undefined takes one out. */
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

/** The form that a refused request is sent in next; null where the refusal is about something else. */
export function nextForm(
  form: RequestForm,
  reply: WholeReply,
  { provider, model, isChat, json }: Formed,
): RequestForm | null {
  if (reply.status < 400) return null
  const said = reasonIn(reply)
  if (form.asksForUsage && ownOptions(json) === null && isUsageRefused(reply.status, bodyText(reply)))
    return { ...form, asksForUsage: false }
  const field = refusedBy(reply)
  if (isChat && !form.renamesLimit && isLimitRefused(field, said)) {
    provider.limits.rename(model)
    return { ...form, renamesLimit: true }
  }
  if (form.stream && isStreamRefused(reply, field, said)) return { ...form, stream: false, asksForUsage: false }
  return null
}

/** Remembers the form that was answered: the next request to the model begins with it. */
export function keepForm(form: RequestForm, { provider, model, isChat, stream, json }: Formed): void {
  if (isChat && stream && form.stream && !form.asksForUsage && ownOptions(json) === null)
    provider.usageRequests.leaveOut(model)
}

/** The field that a refusal names; null where it names none. */
export function refusedBy(reply: WholeReply): string | null {
  if (reply.status !== 400 && reply.status !== 422) return null
  return refusedField(record(parseJson(bodyText(reply))).error)
}

/** Why an upstream refuses, in its words; all of its reply where they are in none of the usual fields. */
function reasonIn(reply: WholeReply): string {
  const text = bodyText(reply)
  const body = record(parseJson(text))
  const { message } = record(body.error ?? body)
  return typeof message === 'string' ? message : text
}

/** Whether an upstream refuses to stream: it names the field, or says so in words. It may only refuse to tell the usage. */
function isStreamRefused(reply: WholeReply, field: string | null, said: string): boolean {
  if (!NO_STREAM.has(reply.status) || isUsageRefused(reply.status, bodyText(reply))) return false
  return field === 'stream' || /\bstream(?:ing|ed)?\b/i.test(said)
}
