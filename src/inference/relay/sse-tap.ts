import { readUsage, type Usage } from '../../providers/token-usage.ts'
import { cut } from '../../text/cut.ts'
import { splitEvents, wholeEvents } from '../../wire/whole-events.ts'
import { type Loose, present, record, records } from '../convert/loose.ts'
import { hideSecrets } from '../failure.ts'
import { FAILED_FINISHES } from '../finish-reason.ts'
import { choiceFault, isReport, ReportedError, readReported } from '../reported-error.ts'

/** How much of a stream is kept to count its tokens, should the upstream not report them. */
const KEPT_BYTES = 64 * 1024
/** What may stand between the parts of a field: its event can have several lines. */
const GAP = String.raw`(?:\s|data:)*`
/** What an event holds that reports usage or an `error`, and few others; most chunks have `"usage":null` or none. */
const TELLING = new RegExp(`"(?:${FAILED_FINISHES.join('|')})"|"usage"${GAP}:${GAP}\\{`)
/** Some providers send an empty one with each chunk. */
const FINISHED = new RegExp(`"finish_reason"${GAP}:${GAP}"[^"]`)
/** Events with a whole Response in them, which repeats the request: none of it is said by the model. */
const ECHO = new RegExp(`"type"${GAP}:${GAP}"response\\.(?:created|queued|in_progress|completed|incomplete|failed)"`)
/** Only as a line: a model may speak of it. */
const DONE = /^data: ?\[DONE\]/m
/** Any of them: one look at each piece of a stream, most of which hold none. */
const NOTABLE = new RegExp([TELLING, FINISHED, ECHO, DONE].map(({ source }) => source).join('|'), 'm')
/**
 * What may stand beside the usage in a chunk that says nothing else: OpenAI's own fields, and what providers put into each
 * chunk (`provider` OpenRouter, `request_id` Zhipu, `obfuscation` OpenAI and `p` Mistral as padding) or measure with the
 * usage (`x_groq`, `timings` llama.cpp, `time_info` Cerebras).
 */
const BESIDE_USAGE = new Set([
  ...['id', 'object', 'created', 'model', 'choices', 'usage', 'system_fingerprint', 'service_tier'],
  ...['provider', 'request_id', 'obfuscation', 'p', 'x_groq', 'timings', 'time_info'],
])
/** What may come before the first event, and is no part of it (https://html.spec.whatwg.org/#parsing-an-event-stream). */
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/** Reads a stream of server-sent events on its way through, without holding it up. */
export interface SseTap {
  /** What to pass on of what has arrived: whole events only, an unfinished one waits for its rest. */
  push(chunk: Buffer): Buffer | null
  /** What is left when the stream has ended in order: an event without its blank line, but not the half of one. */
  rest(): Buffer | null
  /** The last usage that was reported. */
  usage(): Usage | null
  /** What the model said, for counting: its text, and by which factor the stream was longer than what was kept. */
  said(): { text: string; factor: number }
  /** What the stream itself reported as an error. */
  failed(): ReportedError | null
  /** Whether `[DONE]` has gone by, and whether a finish reason has. */
  ending(): { done: boolean; finished: boolean }
}

/**
 * @param options.dropUsageChunk leave out the chunk that reports usage, which the client has not asked for; where it says
 *   something else too, as what was cited, the usage alone
 * @param options.secrets the upstream's, which are taken out of errors
 * @throws from `push` when an event has no end
 */
export function createSseTap(options: { dropUsageChunk: boolean; secrets: readonly string[] }): SseTap {
  const { dropUsageChunk, secrets } = options
  const events = wholeEvents()
  let begun = false
  let usage: Usage | null = null
  let begunUsage: Loose = {}
  let failed: ReportedError | null = null
  const kept: Buffer[] = []
  let keptBytes = 0
  let totalBytes = 0
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
    if (keptBytes >= KEPT_BYTES) return
    kept.push(whole)
    keptBytes += whole.length
  }

  /** Reads whole events. @returns what to pass on of them */
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
   * A Message tells what it was asked as it begins, and what it answered at its end. Before that, nothing counts as told:
   * of one that is cut off, what has come is counted.
   */
  function usageIn(data: EventData | null): unknown {
    if (data?.type === 'message_start') return null
    if (data?.type === 'message_delta') return { ...begunUsage, ...present(record(data.usage)) }
    return data?.usage ?? data?.response?.usage
  }

  function readTelling(event: Buffer): Buffer | null {
    if (!TELLING.test(asciiOf(event))) return event
    const data = eventData(event)
    if (data?.type === 'message_start') begunUsage = record(record(data.message).usage)
    usage = readUsage(usageIn(data)) ?? usage
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
    said: () => ({
      text: splitEvents(Buffer.concat(kept)).map(saidBy).join(''),
      factor: keptBytes === 0 ? 1 : totalBytes / keptBytes,
    }),
    failed: () => failed,
    ending: () => ({ done, finished }),
  }
}

/** An event as far as a relay reads it. */
export interface EventData {
  type?: string
  usage?: unknown
  response?: { id?: unknown; usage?: unknown; status?: string; error?: unknown }
  error?: unknown
  message?: unknown
  code?: unknown
  choices?: Array<{ delta?: Delta | null; text?: unknown } | null>
  delta?: unknown
  content_block?: unknown
  sequence_number?: number
}

/** What a chunk of a chat completion adds; most of it text, but providers differ. */
type Delta = Readonly<Record<string, unknown>>

/** The JSON of an event's `data` lines; null for `[DONE]`, comments and what is not JSON. */
export function eventData(event: Buffer): EventData | null {
  const data = event
    .toString('utf8')
    .split(/\r?\n/)
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

/** Bytes as a string in which all ASCII stands as it is: the quickest form to look for marks in. */
const asciiOf = (bytes: Buffer): string => bytes.toString('latin1')

const isSaid = (event: Buffer): boolean => !ECHO.test(asciiOf(event))

/**
 * What an event says has gone wrong: a chunk with `error`, its own or that of a choice, which few providers make more than
 * one of; the event `error` in both its forms; or `response.failed`.
 */
function faultOf({ type, error, message, code, response, choices }: EventData): ReportedError | null {
  if (type === 'response.failed') return readReported(response?.error)
  if (isReport(error)) return readReported(error)
  if (type === 'error') return readReported({ message, code })
  return records(choices).map(choiceFault).find(Boolean) ?? null
}

/** A chunk that reports usage, without it; null where it says nothing else. */
function withoutUsage(data: EventData): Buffer | null {
  const more = Object.entries(data).some(([name, value]) => !BESIDE_USAGE.has(name) && !isBlank(value))
  return more ? Buffer.from(`data: ${JSON.stringify({ ...data, choices: [], usage: undefined })}\n\n`) : null
}

const isBlank = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)

/** All that an event adds to the answer: thoughts, refusals and tool calls are paid for as text is. */
function saidBy(event: Buffer): string {
  const data = eventData(event)
  if (typeof data?.delta === 'string') return data.delta
  if (data?.type === 'content_block_start') return saidInBlock(data.content_block)
  if (data?.type === 'content_block_delta') return saidInDelta(data.delta)
  if (!Array.isArray(data?.choices)) return ''
  // Completions of the older kind have a text in place of a delta.
  return data.choices.map((choice) => saidIn(choice?.delta ?? { text: choice?.text })).join('')
}

/** What a block of a Message begins with; results of the provider's own tools are not said by the model. */
function saidInBlock(block: unknown): string {
  const { text, thinking, data, name } = record(block)
  return [text, thinking, data, name].map(asText).join('')
}

/** All that a delta of a block adds, by whatever name. */
function saidInDelta(delta: unknown): string {
  const { type, signature, ...said } = record(delta)
  return Object.values(said).map(asText).join('')
}

/** All that a chunk brings, by whatever name (`function_call`, `audio`); some providers send a thought under each of its names. */
function saidIn({ role, reasoning_content, reasoning, reasoning_details, ...said }: Delta): string {
  return [reasoning_content || reasoning || reasoning_details, ...Object.values(said)].map(asText).join('')
}

function asText(part: unknown): string {
  if (typeof part === 'string') return part
  return part ? JSON.stringify(part) : ''
}
