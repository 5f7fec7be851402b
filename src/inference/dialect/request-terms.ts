import { isLimitRefused, renamedLimit } from '../api/answer-limit.ts'
import { askForUsage, isUsageRefused, ownOptions, WITHOUT_OPTIONS } from '../api/usage-request.ts'
import { wording } from './error-wording.ts'
import { API_NAMES, type Api, type Mend } from './mend.ts'

/** Statuses of an upstream that does not stream. */
const NO_STREAM: ReadonlySet<number> = new Set([400, 405, 422, 501])
const STREAM_NEEDED =
  /stream(?:ing)?['"`]? (?:is |must be |should be )(?:required|mandatory|set to true|true|enabled)|only supports? (?:streaming|stream[ =])|non-stream(?:ing)? (?:is|requests? (?:is|are)) not supported/i

/** Anthropic about answers for which a client may wait more than ten minutes. */
const STREAM_IF_LONG = wording(
  /stream(?:ing)? is (?:strongly )?(?:required|recommended).*minutes|stream.*longer than \d+ minutes/is,
)

/** Omits the request for usage in a stream, which Gazeway adds. That of a client is never omitted. */
const withoutUsage: Mend = {
  name: 'no_stream_options',
  apis: ['chat'],
  isRefused: ({ status, message }) => isUsageRefused(status, message),
  fields: ({ stream_options }, _, own) =>
    stream_options === undefined || ownOptions(own) !== null ? {} : WITHOUT_OPTIONS,
}

/** Sends the limit of the answer under its newer name. */
const renamed: Mend = {
  name: 'max_completion_tokens',
  apis: ['chat'],
  isRefused: ({ field, message }) => isLimitRefused(field, message),
  fields(body, note) {
    const fields = renamedLimit(body)
    if ('max_tokens' in fields) note('max_tokens', 'rewritten')
    return fields
  },
}

/** Asks for a whole answer, of which the client's stream is made. */
const unstreamed: Mend = {
  name: 'no_stream',
  apis: API_NAMES,
  stream: false,
  isRefused: ({ status, field, message }) =>
    NO_STREAM.has(status) &&
    !isUsageRefused(status, message) &&
    !STREAM_NEEDED.test(message) &&
    !STREAM_IF_LONG.test(message) &&
    (field === 'stream' || /\bstream(?:ing|ed)?\b/i.test(message)),
  fields({ stream }, note) {
    if (stream !== true) return {}
    note('stream', 'dropped')
    return { stream: undefined, ...WITHOUT_OPTIONS }
  },
}

/** Asks for a stream, of which the client's whole answer is made. */
const streamed = (api: Api): Mend => ({
  name: 'stream_only',
  apis: [api],
  stream: true,
  isRefused: ({ message }) => STREAM_NEEDED.test(message),
  fields(body, note) {
    if (body.stream === true) return {}
    note('stream', 'added')
    return { stream: true, ...(api === 'chat' && askForUsage(body)) }
  },
})

/** The same for a long answer alone: shorter ones of the model come whole. */
const streamedIfLong: Mend = {
  ...streamed('messages'),
  name: 'stream_if_long',
  isOfCall: true,
  isRefused: ({ message }) => STREAM_IF_LONG.test(message),
}

/** Mends of how an answer is asked for. */
export const REQUEST_TERMS: readonly Mend[] = [
  withoutUsage,
  renamed,
  unstreamed,
  streamedIfLong,
  ...API_NAMES.map(streamed),
]
