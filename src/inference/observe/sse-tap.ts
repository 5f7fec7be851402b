import { USAGE_NAMES } from '../../providers/usage-field.ts'
import { cut } from '../../text/cut.ts'
import { fieldsOrNone, isText, objectsOrNone } from '../../text/lenient-reader.ts'
import { splitEvents, wholeEvents } from '../../wire/whole-sse-events.ts'
import { FAILED_FINISHES } from '../api/finish-reason.ts'
import { ReportedError } from '../api/reported-error.ts'
import { hideSecrets } from '../upstreams/failure.ts'
import { NAMES_CHAT_TOOLS } from './chat-tools.ts'
import { type EventData, eventData } from './event-data.ts'
import { noteOutput, type OutputTimes } from './output-times.ts'
import { faultIn, toldFault } from './stream-fault.ts'
import { createStreamPrefix, type StreamPrefix } from './stream-prefix.ts'
import { readReport, type UsageReport } from './usage-report.ts'

/** Matches what may separate the parts of a field: an event can span several lines. */
const GAP = String.raw`(?:\s|data:)*`
/** Matches events that report usage, tools with a fee or an `error`, and few others. Most chunks have `"usage":null` or none. */
const TELLING = new RegExp(
  `"(?:${FAILED_FINISHES.join('|')})"|"(?:${USAGE_NAMES.join('|')})"${GAP}:${GAP}\\{|${NAMES_CHAT_TOOLS}`,
)
/** Matches events that may finish an answer. Some providers send an empty one with each chunk. */
const FINISHED = new RegExp(`"(?:finish_?[rR]eason|blockReason)"${GAP}:${GAP}"[^"]`)
/** Matches events that contain a whole Response. It repeats the request and adds no output. */
const ECHO = new RegExp(`"type"${GAP}:${GAP}"response\\.(?:created|queued|in_progress|completed|incomplete|failed)"`)
/** Only as a whole line, because a model may mention it. */
const DONE = /^data: ?\[DONE\]/m
/** Matches fields with reasoning in a chat stream. Some providers send an empty one with each chunk. */
export const REASONED =
  /"(?:reasoning(?:_content)?"\s*:\s*"(?!")|reasoning_details"\s*:\s*\[\s*\{|thinking_blocks"|extra_content"\s*:\s*\{)/
/** Matches calls in a chat stream, and the finish reason of one that ends with calls. */
export const CALLED = /"tool_calls"/
/** Union of the patterns above: one test per chunk of the stream, most of which match none. */
const NOTABLE = new RegExp([TELLING, FINISHED, ECHO, DONE, REASONED, CALLED].map(({ source }) => source).join('|'), 'm')
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
export interface SseTap
  extends Pick<UsageReport, 'usage' | 'promptUsage' | 'terms' | 'isOutdated'>,
    Pick<StreamPrefix, 'generated' | 'incrementalText'> {
  /** Adds a chunk and returns the events to pass on. Unfinished ones wait for the rest. */
  push(chunk: Buffer): Buffer | null
  /** Rest after a clean end of the stream: an event without its blank line, but no partial one. */
  rest(): Buffer | null
  /** True when the last events have none of usage, an end, an error, calls and reasoning: most have text alone. */
  isPlain(): boolean
  /** Error that the stream itself reported. */
  failed(): ReportedError | null
  /** Tells whether `[DONE]` and a finish reason have passed. */
  ending(): { done: boolean; finished: boolean }
}

/**
 * Creates a tap.
 *
 * @param options.dropUsageChunk drops the chunk with the usage, which the client did not ask for; when it carries more,
 *   such as citations, only the usage is removed
 * @param options.secrets secrets of the upstream, which are removed from errors
 * @param options.times takes the times of the first reasoning and the first text; nobody asks when absent
 * @throws from `push` when an event is too long
 */
export function createSseTap(options: {
  dropUsageChunk: boolean
  secrets: readonly string[]
  times?: OutputTimes
}): SseTap {
  const { dropUsageChunk, secrets, times } = options
  const events = wholeEvents()
  const kept = createStreamPrefix()
  const report = readReport(kept)
  const withoutMark = dropMark()
  let failed: ReportedError | null = null
  let done = false
  let finished = false
  let plain = false

  /** Keeps events with output of the model. */
  function keep(events: Buffer, text: string): void {
    if (times?.firstText === null) noteOutput(times, text, events)
    kept.add(events)
  }

  /** Reads whole events. @returns the events to pass on */
  function read(whole: Buffer): Buffer | null {
    const text = asciiOf(whole)
    plain = !NOTABLE.test(text)
    if (plain) {
      keep(whole, text)
      return whole
    }
    if (ECHO.test(text)) for (const event of splitEvents(whole).filter(isSaid)) keep(event, asciiOf(event))
    else keep(whole, text)
    done ||= DONE.test(text)
    finished ||= FINISHED.test(text) && splitEvents(whole).some(isFinish)
    if (!TELLING.test(text)) return whole
    const passed = splitEvents(whole).flatMap((event) => readTelling(event) ?? [])
    return passed.length === 0 ? null : Buffer.concat(passed)
  }

  function readTelling(event: Buffer): Buffer | null {
    if (!TELLING.test(asciiOf(event))) {
      report.pass(event)
      return event
    }
    const data = eventData(event)
    report.read(data)
    const fault = data && faultIn(data)
    if (fault) {
      const { code, overflow } = fault
      const known = new ReportedError(cut(hideSecrets(fault.message, secrets), 0, 500), { code, overflow })
      failed ??= known
      return toldFault(Buffer.from(hideSecrets(event.toString('utf8'), secrets)), data, known)
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
    usage: report.usage,
    promptUsage: report.promptUsage,
    terms: report.terms,
    isOutdated: report.isOutdated,
    incrementalText: kept.incrementalText,
    generated: kept.generated,
    isPlain: () => plain,
    failed: () => failed,
    ending: () => ({ done, finished }),
  }
}

/** Removes the byte order mark from the first bytes of a stream. */
function dropMark(): (bytes: Buffer) => Buffer {
  let begun = false
  return (bytes) => {
    if (begun) return bytes
    begun = true
    const { length } = BYTE_ORDER_MARK
    return BYTE_ORDER_MARK.equals(bytes.subarray(0, length)) ? bytes.subarray(length) : bytes
  }
}

/** Decodes bytes so that ASCII is kept: the fastest form to search for markers. */
const asciiOf = (bytes: Buffer): string => bytes.toString('latin1')

/** Tells whether an event finishes an answer. Arguments of a call may have fields of the same names. */
function isFinish(event: Buffer): boolean {
  const { choices, candidates, promptFeedback } = fieldsOrNone(eventData(event))
  return (
    isText(fieldsOrNone(promptFeedback).blockReason) ||
    [choices, candidates].flatMap(objectsOrNone).some((of) => isText(of.finish_reason) || isText(of.finishReason))
  )
}

const isSaid = (event: Buffer): boolean => !ECHO.test(asciiOf(event))

/** Removes the usage from a chunk. Null when nothing else is left. */
function withoutUsage(data: EventData): Buffer | null {
  const more = Object.entries(data).some(([name, value]) => !BESIDE_USAGE.has(name) && !isBlank(value))
  return more ? Buffer.from(`data: ${JSON.stringify({ ...data, choices: [], usage: undefined })}\n\n`) : null
}

const isBlank = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
