import type { CallRecord } from '../../calls/call-record.ts'
import { hasWords } from './generated-text.ts'

/** Times at which the parts of a reply began, as `performance.now()` gives them. Null before. */
export interface OutputTimes {
  firstByte: number | null
  firstThought: number | null
  firstText: number | null
}

/** Times of a reply that has not begun. */
export const newOutputTimes = (): OutputTimes => ({ firstByte: null, firstThought: null, firstText: null })

/** Matches reasoning in a stream of any API. */
const THOUGHTS =
  /"reasoning(?:_content)?"\s*:\s*"(?!")|"reasoning_details"\s*:\s*\[\s*\{|"type"\s*:\s*"(?:(?:redacted_)?thinking|(?:response\.)?reasoning)|"thought"\s*:\s*true/
/** Matches text and calls in a stream of any API, and a text that may be reasoning. */
const WORDS =
  /"(?:content|refusal)"\s*:\s*"(?!")|(?<!"reasoning\.text"\s*,\s*)"text"\s*:\s*"(?!")|"content"\s*:\s*\[\s*\{|"(?:tool_calls|functionCall|function_call)"\s*:\s*(?:\[\s*)?\{|"type"\s*:\s*"(?:input_json_delta"|response\.(?!reasoning)[\w.]*\.delta")/

/**
 * Notes the first reasoning and the first text of a stream. Events are parsed only where one holds both, as most pass
 * through here before the first text.
 *
 * @param text the events, as ASCII
 */
export function noteOutput(times: OutputTimes, text: string, events: Buffer): void {
  const isThought = THOUGHTS.test(text)
  if (isThought) times.firstThought ??= performance.now()
  if (WORDS.test(text) && (!isThought || hasWords(events))) times.firstText = performance.now()
}

/**
 * Times of an attempt, for its record.
 *
 * @param began when it began, as `performance.now()` gave it
 * @param queue_ms its wait before that, in milliseconds; null for a later attempt
 */
export function timingFrom(
  began: number,
  { firstByte, firstThought, firstText }: OutputTimes,
  queue_ms: number | null,
): NonNullable<CallRecord['timing']> {
  const since = (time: number | null) => (time === null ? null : Math.max(0, Math.round(time - began)))
  return {
    queue_ms,
    first_byte_ms: since(firstByte),
    first_thought_ms: since(firstThought),
    first_text_ms: since(firstText),
  }
}
