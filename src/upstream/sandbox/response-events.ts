import type { ResponseOutputMessage, ResponseStreamEvent } from 'openai/resources/responses/responses'
import type { OutputItem, WireResponse } from './response-object.ts'
import { streamPieces } from './tokens.ts'

/** An event of a streamed response; its fields are those of the OpenAI event of that `type`. */
export type StreamEvent = { type: ResponseStreamEvent['type']; sequence_number: number } & Record<string, unknown>

type Unnumbered = Omit<StreamEvent, 'sequence_number'> & { type: ResponseStreamEvent['type'] }

/**
 * The events by which a finished response is streamed, in the documented order
 * (https://platform.openai.com/docs/api-reference/responses-streaming), numbered from 0.
 */
export function* responseEvents(response: WireResponse): Generator<StreamEvent> {
  let number = 0
  for (const event of unnumbered(response)) yield { ...event, type: event.type, sequence_number: number++ }
}

function* unnumbered(response: WireResponse): Generator<Unnumbered> {
  const begun: WireResponse = {
    ...response,
    status: 'in_progress',
    completed_at: null,
    incomplete_details: null,
    output: [],
    usage: null,
  }
  yield { type: 'response.created', response: begun }
  yield { type: 'response.in_progress', response: begun }
  for (const [index, item] of response.output.entries()) {
    yield { type: 'response.output_item.added', output_index: index, item: started(item) }
    yield* itemEvents(item, { item_id: item.id, output_index: index })
    yield { type: 'response.output_item.done', output_index: index, item }
  }
  yield { type: response.status === 'incomplete' ? 'response.incomplete' : 'response.completed', response }
}

/** The item as it is before anything of it has been sent. */
function started(item: OutputItem): OutputItem {
  switch (item.type) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] }
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' }
    case 'custom_tool_call':
      return { ...item, status: 'in_progress', input: '' }
    case 'web_search_call':
      return { ...item, status: 'in_progress', action: { type: 'search', query: '', queries: [], sources: [] } }
  }
}

interface Position {
  item_id: string
  output_index: number
}

function* itemEvents(item: OutputItem, position: Position): Generator<Unnumbered> {
  switch (item.type) {
    case 'message':
      yield* messageEvents(item, position)
      return
    case 'function_call':
      for (const delta of streamPieces(item.arguments))
        yield { type: 'response.function_call_arguments.delta', ...position, delta }
      yield { type: 'response.function_call_arguments.done', ...position, name: item.name, arguments: item.arguments }
      return
    case 'custom_tool_call':
      yield { type: 'response.custom_tool_call_input.delta', ...position, delta: item.input }
      yield { type: 'response.custom_tool_call_input.done', ...position, input: item.input }
      return
    case 'web_search_call':
      yield { type: 'response.web_search_call.in_progress', ...position }
      yield { type: 'response.web_search_call.searching', ...position }
      yield { type: 'response.web_search_call.completed', ...position }
  }
}

function* messageEvents(message: ResponseOutputMessage, position: Position): Generator<Unnumbered> {
  for (const [index, part] of message.content.entries()) {
    if (part.type !== 'output_text') continue
    const at = { ...position, content_index: index }
    yield { type: 'response.content_part.added', ...at, part: { ...part, text: '', annotations: [] } }
    for (const delta of streamPieces(part.text))
      yield { type: 'response.output_text.delta', ...at, delta, logprobs: [] }
    for (const [order, annotation] of part.annotations.entries()) {
      yield { type: 'response.output_text.annotation.added', ...at, annotation_index: order, annotation }
    }
    yield { type: 'response.output_text.done', ...at, text: part.text, logprobs: [] }
    yield { type: 'response.content_part.done', ...at, part }
  }
}
