import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import type { Fields } from '../../text/typed-reader.ts'
import { read } from './answer-reader.ts'

/** An event of a streamed response, with the fields of the OpenAI event of that `type`. */
export type StreamEvent = { type: ResponseStreamEvent['type']; sequence_number: number } & Record<string, unknown>

type Unnumbered = Omit<StreamEvent, 'sequence_number'> & { type: ResponseStreamEvent['type'] }

/** Splits a text into deltas. */
type Pieces = (text: string) => string[]

/** Last event of a Response by its status. `response.completed` for any other. */
const LAST_EVENTS: Readonly<Record<string, ResponseStreamEvent['type']>> = {
  incomplete: 'response.incomplete',
  queued: 'response.queued',
  in_progress: 'response.in_progress',
}

/**
 * Generates the events that stream a whole Response, in the documented order
 * (https://platform.openai.com/docs/api-reference/responses-streaming), numbered from 0. Items of an unknown type only
 * get their `added` and `done` events.
 *
 * @param pieces splits texts into deltas; by default one delta per text
 * @throws WrongTypeError
 */
export function* responseEvents(
  response: object,
  pieces: Pieces = (text) => (text === '' ? [] : [text]),
): Generator<StreamEvent> {
  let number = 0
  for (const event of unnumbered(response as Fields, pieces))
    yield { ...event, type: event.type, sequence_number: number++ }
}

function* unnumbered(response: Fields, pieces: Pieces): Generator<Unnumbered> {
  const begun = {
    ...response,
    status: 'in_progress',
    completed_at: null,
    incomplete_details: null,
    output: [],
    usage: null,
  }
  yield { type: 'response.created', response: begun }
  yield { type: 'response.in_progress', response: begun }
  for (const [index, item] of read.objects(response.output, 'output').entries()) {
    yield { type: 'response.output_item.added', output_index: index, item: started(item) }
    yield* itemEvents(item, `output.${index}`, { item_id: item.id, output_index: index }, pieces)
    yield { type: 'response.output_item.done', output_index: index, item }
  }
  yield { type: LAST_EVENTS[String(response.status)] ?? 'response.completed', response }
}

/** The item before any of its content. */
function started(item: Fields): Fields {
  const begun = { ...item, status: 'in_progress' }
  switch (item.type) {
    case 'message':
      return { ...begun, content: [] }
    case 'reasoning':
      return { ...begun, summary: [], ...('content' in item && { content: [] }) }
    case 'function_call':
      return { ...begun, arguments: '' }
    case 'custom_tool_call':
      return { ...begun, input: '' }
    case 'web_search_call':
      return { ...begun, action: { type: 'search', query: '', queries: [], sources: [] } }
    default:
      return item
  }
}

interface Position {
  item_id: unknown
  output_index: number
}

function* itemEvents(item: Fields, path: string, position: Position, pieces: Pieces): Generator<Unnumbered> {
  switch (item.type) {
    case 'message':
      yield* contentEvents(item, path, position, pieces)
      return
    case 'reasoning':
      yield* summaryEvents(item, path, position, pieces)
      yield* contentEvents(item, path, position, pieces)
      return
    case 'function_call': {
      const written = read.text(item.arguments, `${path}.arguments`)
      for (const delta of pieces(written)) yield { type: 'response.function_call_arguments.delta', ...position, delta }
      yield { type: 'response.function_call_arguments.done', ...position, name: item.name, arguments: written }
      return
    }
    case 'custom_tool_call': {
      const input = read.text(item.input, `${path}.input`)
      yield { type: 'response.custom_tool_call_input.delta', ...position, delta: input }
      yield { type: 'response.custom_tool_call_input.done', ...position, input }
      return
    }
    case 'web_search_call':
      yield { type: 'response.web_search_call.in_progress', ...position }
      yield { type: 'response.web_search_call.searching', ...position }
      yield { type: 'response.web_search_call.completed', ...position }
  }
}

function* contentEvents({ content }: Fields, path: string, position: Position, pieces: Pieces): Generator<Unnumbered> {
  for (const [index, part] of partsOf(content, `${path}.content`).entries()) {
    const at = { ...position, content_index: index }
    yield { type: 'response.content_part.added', ...at, part: startedPart(part) }
    yield* partEvents(part, `${path}.content.${index}`, at, pieces)
    yield { type: 'response.content_part.done', ...at, part }
  }
}

/** Parts of a message. Some compatible upstreams send a text instead of the list. */
const partsOf = (content: unknown, path: string): Fields[] =>
  typeof content === 'string' ? [{ type: 'output_text', text: content, annotations: [] }] : read.objects(content, path)

/** The part before any of its content. */
function startedPart(part: Fields): Fields {
  switch (part.type) {
    case 'output_text':
      return { ...part, text: '', annotations: [] }
    case 'reasoning_text':
      return { ...part, text: '' }
    case 'refusal':
      return { ...part, refusal: '' }
    default:
      return part
  }
}

function* partEvents(part: Fields, path: string, at: object, pieces: Pieces): Generator<Unnumbered> {
  switch (part.type) {
    case 'output_text': {
      const text = textIn(part, path)
      const annotations = read.objects(part.annotations, `${path}.annotations`)
      const logprobs = read.objects(part.logprobs, `${path}.logprobs`)
      for (const delta of pieces(text)) yield { type: 'response.output_text.delta', ...at, delta, logprobs: [] }
      for (const [order, annotation] of annotations.entries())
        yield { type: 'response.output_text.annotation.added', ...at, annotation_index: order, annotation }
      yield { type: 'response.output_text.done', ...at, text, logprobs }
      return
    }
    case 'reasoning_text': {
      const text = textIn(part, path)
      for (const delta of pieces(text)) yield { type: 'response.reasoning_text.delta', ...at, delta }
      yield { type: 'response.reasoning_text.done', ...at, text }
      return
    }
    case 'refusal': {
      const refusal = read.optionalText(part.refusal, `${path}.refusal`) ?? ''
      for (const delta of pieces(refusal)) yield { type: 'response.refusal.delta', ...at, delta }
      yield { type: 'response.refusal.done', ...at, refusal }
    }
  }
}

const textIn = ({ text }: Fields, path: string): string => read.optionalText(text, `${path}.text`) ?? ''

function* summaryEvents({ summary }: Fields, path: string, position: Position, pieces: Pieces): Generator<Unnumbered> {
  for (const [index, part] of read.objects(summary, `${path}.summary`).entries()) {
    const at = { ...position, summary_index: index }
    const text = textIn(part, `${path}.summary.${index}`)
    yield { type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } }
    for (const delta of pieces(text)) yield { type: 'response.reasoning_summary_text.delta', ...at, delta }
    yield { type: 'response.reasoning_summary_text.done', ...at, text }
    yield { type: 'response.reasoning_summary_part.done', ...at, part }
  }
}
