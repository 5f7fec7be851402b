import { readUsage, type Usage } from '../../providers/token-usage.ts'
import { cut } from '../../text/cut.ts'
import { isObject } from '../../text/json.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { splitEvents, wholeEvents } from '../../wire/whole-events.ts'
import { FAILED_FINISHES } from '../api/finish-reason.ts'
import { choiceFault, isReport, ReportedError, readReported } from '../api/reported-error.ts'
import { hideSecrets } from '../upstreams/failure.ts'

/** Bytes of a stream kept for counting tokens, in case the upstream reports no usage. */
const KEPT_BYTES = 64 * 1024
/** Matches what may separate the parts of a field: an event can span several lines. */
const GAP = String.raw`(?:\s|data:)*`
/** Matches events that report usage or an `error`, and few others. Most chunks have `"usage":null` or none. */
const TELLING = new RegExp(`"(?:${FAILED_FINISHES.join('|')})"|"usage"${GAP}:${GAP}\\{`)
/** Some providers send an empty one with each chunk. */
const FINISHED = new RegExp(`"finish_reason"${GAP}:${GAP}"[^"]`)
/** Matches events that contain a whole Response. It repeats the request and adds no output. */
const ECHO = new RegExp(`"type"${GAP}:${GAP}"response\\.(?:created|queued|in_progress|completed|incomplete|failed)"`)
/** Only as a whole line, because a model may mention it. */
const DONE = /^data: ?\[DONE\]/m
/** Union of the patterns above: one test per chunk of the stream, most of which match none. */
const NOTABLE = new RegExp([TELLING, FINISHED, ECHO, DONE].map(({ source }) => source).join('|'), 'm')
/**
 * Fields beside the usage of a chunk that carries nothing else: OpenAI's own, those that providers add to each chunk
 * (`provider` OpenRouter, `request_id` Zhipu, `obfuscation` OpenAI and `p` Mistral as padding), and metrics (`x_groq`,
 * `timings` llama.cpp, `time_info` Cerebras).
 */
const BESIDE_USAGE = new Set([
  ...['id', 'object', 'created', 'model', 'choices', 'usage', 'system_fingerprint', 'service_tier'],
  ...['provider', 'request_id', 'obfuscation', 'p', 'x_groq', 'timings', 'time_info'],
])
/** Byte order mark that may precede the first event (https://html.spec.whatwg.org/#parsing-an-event-stream). */
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/** Inspects a stream of server-sent events in transit, without delaying it. */
export interface SseTap {
  /** Adds a chunk and returns the events to pass on. Unfinished ones wait for the rest. */
  push(chunk: Buffer): Buffer | null
  /** Rest after a clean end of the stream: an event without its blank line, but no partial one. */
  rest(): Buffer | null
  /** Last usage reported. */
  usage(): Usage | null
  /** Service tier in the event that reported it. Undefined without one. */
  serviceTier(): unknown
  /** Tells whether the model generated more after that report, so that it is too low for a stream that is cut off. */
  isOutdated(): boolean
  /** Begins to collect the text of the model from here on. */
  follow(): FollowedText
  /** Text of the model, for counting tokens, and the ratio of the whole stream's length to the part kept. */
  generated(): { text: string; factor: number }
  /** Error that the stream itself reported. */
  failed(): ReportedError | null
  /** Tells whether `[DONE]` and a finish reason have passed. */
  ending(): { done: boolean; finished: boolean }
}

/** Text of the model as it arrives, each part once. */
export interface FollowedText {
  /** Bytes of the events that were not read yet; their text has no more. */
  bytes(): number
  /** Reads the text since the last call. */
  text(): string
}

/**
 * Creates a tap.
 *
 * @param options.dropUsageChunk drops the chunk with the usage, which the client did not ask for; when it carries more,
 *   such as citations, only the usage is removed
 * @param options.secrets secrets of the upstream, which are removed from errors
 * @throws from `push` when an event is too long
 */
export function createSseTap(options: { dropUsageChunk: boolean; secrets: readonly string[] }): SseTap {
  const { dropUsageChunk, secrets } = options
  const events = wholeEvents()
  let begun = false
  let usage: Usage | null = null
  let serviceTier: unknown
  let begunUsage: Fields = {}
  let failed: ReportedError | null = null
  const kept: Buffer[] = []
  let keptBytes = 0
  let totalBytes = 0
  /** Events that the follower has not read. Null without a follower. */
  let unread: Buffer[] | null = null
  let unreadBytes = 0
  /** Pieces kept when the last usage was reported, and whether the newest of them has text after it. */
  let keptAtUsage = 0
  let generatedSince = false
  let done = false
  let finished = false

  function withoutMark(whole: Buffer): Buffer {
    if (begun) return whole
    begun = true
    const { length } = BYTE_ORDER_MARK
    return BYTE_ORDER_MARK.equals(whole.subarray(0, length)) ? whole.subarray(length) : whole
  }

  function keep(whole: Buffer): void {
    totalBytes += whole.length
    if (unread !== null) {
      unread.push(whole)
      unreadBytes += whole.length
    }
    if (keptBytes >= KEPT_BYTES) return
    kept.push(whole)
    keptBytes += whole.length
  }

  /**
   * Reads whole events.
   *
   * @returns the events to pass on
   */
  function read(whole: Buffer): Buffer | null {
    const text = asciiOf(whole)
    if (!NOTABLE.test(text)) {
      keep(whole)
      return whole
    }
    if (ECHO.test(text)) for (const event of splitEvents(whole).filter(isSaid)) keep(event)
    else keep(whole)
    done ||= DONE.test(text)
    finished ||= FINISHED.test(text)
    if (!TELLING.test(text)) return whole
    const passed = splitEvents(whole).flatMap((event) => readTelling(event) ?? [])
    return passed.length === 0 ? null : Buffer.concat(passed)
  }

  /**
   * Usage in an event. A Message reports its prompt at the start and its answer at the end. Before the end nothing
   * counts as reported, so that a truncated Message is counted.
   */
  function usageIn(data: EventData | null): unknown {
    if (data?.type === 'message_start') return null
    if (data?.type === 'message_delta') return { ...begunUsage, ...present(fieldsOrNone(data.usage)) }
    return data?.usage ?? data?.response?.usage
  }

  function readTelling(event: Buffer): Buffer | null {
    if (!TELLING.test(asciiOf(event))) {
      generatedSince ||= usage !== null && generatedBy(event) !== ''
      return event
    }
    const data = eventData(event)
    if (data?.type === 'message_start') begunUsage = fieldsOrNone(fieldsOrNone(data.message).usage)
    const reported = readUsage(usageIn(data))
    if (reported !== null) {
      usage = reported
      serviceTier = data?.service_tier ?? data?.response?.service_tier ?? serviceTier
      keptAtUsage = kept.length
      generatedSince = false
    }
    const fault = data && faultOf(data)
    if (fault) {
      failed ??= new ReportedError(cut(hideSecrets(fault.message, secrets), 0, 500), fault.code)
      return Buffer.from(hideSecrets(event.toString('utf8'), secrets))
    }
    const isUsageChunk = data?.usage && !data.choices?.length
    return dropUsageChunk && isUsageChunk ? withoutUsage(data) : event
  }

  return {
    push(chunk) {
      const whole = events.push(chunk)
      return whole && read(withoutMark(whole))
    },
    rest() {
      const rest = events.rest()
      if (!rest) return null
      const left = withoutMark(rest)
      return DONE.test(asciiOf(left)) || eventData(left) ? read(left) : null
    },
    usage: () => usage,
    serviceTier: () => serviceTier,
    isOutdated: () =>
      generatedSince || splitEvents(Buffer.concat(kept.slice(keptAtUsage))).some((event) => generatedBy(event) !== ''),
    follow() {
      unread = []
      return {
        bytes: () => unreadBytes,
        text() {
          const text = textOf(Buffer.concat(unread ?? []))
          unread = []
          unreadBytes = 0
          return text
        },
      }
    },
    generated: () => ({
      text: textOf(Buffer.concat(kept)),
      factor: keptBytes === 0 ? 1 : totalBytes / keptBytes,
    }),
    failed: () => failed,
    ending: () => ({ done, finished }),
  }
}

/** The fields of an event that a relay reads. */
export interface EventData {
  type?: string
  usage?: unknown
  service_tier?: unknown
  response?: { id?: unknown; usage?: unknown; service_tier?: unknown; status?: string; error?: unknown }
  error?: unknown
  message?: unknown
  code?: unknown
  choices?: Array<{ delta?: Delta | null; text?: unknown } | null>
  delta?: unknown
  content_block?: unknown
  sequence_number?: number
}

/** Addition of one chunk of a chat completion. Mostly text, but providers differ. */
type Delta = Readonly<Record<string, unknown>>

/** Parses the `data` lines of an event. Null for `[DONE]`, comments and anything but JSON. */
export function eventData(event: Buffer): EventData | null {
  const data = event
    .toString('utf8')
    .split(/\r\n?|\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trimStart())
    .join('\n')
  if (!data.startsWith('{')) return null
  try {
    return JSON.parse(data)
  } catch {
    return null
  }
}

/** Decodes bytes so that ASCII is kept: the fastest form to search for markers. */
const asciiOf = (bytes: Buffer): string => bytes.toString('latin1')

const isSaid = (event: Buffer): boolean => !ECHO.test(asciiOf(event))

/**
 * Error that an event reports: a chunk with `error`, at the top or in a choice; the event `error` in both its forms; or
 * `response.failed`.
 */
function faultOf({ type, error, message, code, response, choices }: EventData): ReportedError | null {
  if (type === 'response.failed') return readReported(response?.error)
  if (isReport(error)) return readReported(error)
  if (type === 'error') return readReported({ message, code })
  return objectsOrNone(choices).map(choiceFault).find(Boolean) ?? null
}

/** Removes the usage from a chunk. Null when nothing else is left. */
function withoutUsage(data: EventData): Buffer | null {
  const more = Object.entries(data).some(([name, value]) => !BESIDE_USAGE.has(name) && !isBlank(value))
  return more ? Buffer.from(`data: ${JSON.stringify({ ...data, choices: [], usage: undefined })}\n\n`) : null
}

const isBlank = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)

/** Text that events add to an answer, for counting tokens. */
export const textOf = (events: Buffer): string => splitEvents(events).map(generatedBy).join('')

/** Everything that an event adds to the answer. Reasoning, refusals and tool calls are billed like text. */
function generatedBy(event: Buffer): string {
  const data = eventData(event)
  if (typeof data?.delta === 'string') return data.delta
  if (data?.type === 'content_block_start') return saidInBlock(data.content_block)
  if (data?.type === 'content_block_delta') return saidInDelta(data.delta)
  if (!Array.isArray(data?.choices)) return ''
  // Legacy completions have a text instead of a delta.
  return data.choices.map((choice) => generatedIn(choice?.delta ?? { text: choice?.text })).join('')
}

/** Start of a block of a Message. Results of the provider's own tools are not output of the model. */
function saidInBlock(block: unknown): string {
  const { text, thinking, data, name } = fieldsOrNone(block)
  return [text, thinking, data, name].map(asText).join('')
}

/** Everything that a delta of a block adds, in whatever field. */
function saidInDelta(delta: unknown): string {
  const { type, signature, ...generated } = fieldsOrNone(delta)
  return Object.values(generated).map(asText).join('')
}

/**
 * Everything that a chunk adds, in whatever field (`audio`, `images`). Some providers send reasoning under several
 * names; it counts once.
 */
function generatedIn(delta: Delta): string {
  const { role, reasoning_content, reasoning, reasoning_details, tool_calls, function_call, ...generated } = delta
  const thought = reasoning_content || reasoning || reasoning_details
  const called = [tool_calls, { function: function_call }].flat().map(fieldsOrNone).map(saidInCall)
  return [thought, ...called, ...Object.values(generated)].map(asText).join('')
}

/** Name and arguments in a piece of a call. The JSON around them is not output of the model: each piece repeats it. */
function saidInCall({ index, id, type, ...called }: Delta): string {
  const parts = Object.values(called).flatMap((part) => (isObject(part) ? Object.values(part) : [part]))
  return parts.map(asText).join('')
}

function asText(part: unknown): string {
  if (typeof part === 'string') return part
  return part ? JSON.stringify(part) : ''
}
