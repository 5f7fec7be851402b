import type { ResponseOutputRefusal, ResponseStreamEvent } from 'openai/resources/responses/responses'
import type { CalledTool } from './callable-tools.ts'
import type { Citation, Logprob } from './chat-answer.ts'
import {
  callItem,
  type ItemStatus,
  itemId,
  messageItem,
  type OutputItem,
  reasoningItem,
  refusalPart,
  type TextPart,
  type ToolCall,
  textPart,
} from './response-items.ts'
import { createWrapping, unwrapped } from './wrapped-arguments.ts'

/** An event of a streamed Response, as the client's types define it. */
export type ResponseEvent = ResponseStreamEvent

type Unnumbered<Event> = Event extends ResponseEvent ? Omit<Event, 'sequence_number'> : never

/** Receives the events of a Response, in order. */
export type Emit = (event: Unnumbered<ResponseEvent>) => void

/** An output item that is still being written. Creating one emits `response.output_item.added`. */
export interface StreamedItem {
  /** The item so far. */
  item(status: ItemStatus): OutputItem
  /** Emits the ends of the item's parts, then `response.output_item.done`. Nothing may be added afterwards. */
  close(status: ItemStatus): void
}

/** A message being written. Each method emits its events at once. */
export interface StreamedMessage extends StreamedItem {
  text(delta: string, logprobs: Logprob[]): void
  cite(citation: Citation): void
  refuse(delta: string): void
}

/** Creates a message. Text and refusal are one part each, opened by their first delta. */
export function streamMessage(emit: Emit, output_index: number): StreamedMessage {
  const id = itemId('msg')
  const parts: (TextPart | ResponseOutputRefusal)[] = []
  let text: TextPart | undefined
  let refusal: ResponseOutputRefusal | undefined
  const at = (part: TextPart | ResponseOutputRefusal) => ({
    item_id: id,
    output_index,
    content_index: parts.indexOf(part),
  })

  emit({ type: 'response.output_item.added', output_index, item: messageItem(id, 'in_progress', []) })

  function openText(): TextPart {
    if (text) return text
    text = textPart('')
    parts.push(text)
    emit({ type: 'response.content_part.added', ...at(text), part: textPart('') })
    return text
  }

  function openRefusal(): ResponseOutputRefusal {
    if (refusal) return refusal
    refusal = refusalPart('')
    parts.push(refusal)
    emit({ type: 'response.content_part.added', ...at(refusal), part: refusalPart('') })
    return refusal
  }

  function closePart(part: TextPart | ResponseOutputRefusal): void {
    if (part.type === 'output_text')
      emit({ type: 'response.output_text.done', ...at(part), text: part.text, logprobs: part.logprobs })
    else emit({ type: 'response.refusal.done', ...at(part), refusal: part.refusal })
    emit({ type: 'response.content_part.done', ...at(part), part })
  }

  const item = (status: ItemStatus) => messageItem(id, status, parts)
  return {
    text(delta, logprobs) {
      const part = openText()
      part.text += delta
      part.logprobs.push(...logprobs)
      if (delta !== '') emit({ type: 'response.output_text.delta', ...at(part), delta, logprobs })
    },
    cite(annotation) {
      const part = openText()
      const annotation_index = part.annotations.push(annotation) - 1
      emit({ type: 'response.output_text.annotation.added', ...at(part), annotation_index, annotation })
    },
    refuse(delta) {
      const part = openRefusal()
      part.refusal += delta
      emit({ type: 'response.refusal.delta', ...at(part), delta })
    },
    item,
    close(status) {
      for (const part of parts) closePart(part)
      emit({ type: 'response.output_item.done', output_index, item: item(status) })
    },
  }
}

/** Reasoning being written. */
export interface StreamedReasoning extends StreamedItem {
  think(delta: string): void
  /** Sets the sealed state, which the item carries at its end. */
  carry(sealed: string): void
}

/** Creates a reasoning item. Its text is a single summary part, opened by the first delta. */
export function streamReasoning(emit: Emit, output_index: number): StreamedReasoning {
  const id = itemId('rs')
  const at = { item_id: id, output_index, summary_index: 0 }
  let text = ''
  let sealed = ''
  emit({ type: 'response.output_item.added', output_index, item: reasoningItem(id, 'in_progress', '') })

  const item = (status: ItemStatus) => reasoningItem(id, status, text, sealed)
  return {
    think(delta) {
      if (text === '')
        emit({ type: 'response.reasoning_summary_part.added', ...at, part: { type: 'summary_text', text: '' } })
      text += delta
      emit({ type: 'response.reasoning_summary_text.delta', ...at, delta })
    },
    carry(state) {
      sealed = state
    },
    item,
    close(status) {
      if (text !== '') {
        emit({ type: 'response.reasoning_summary_text.done', ...at, text })
        emit({ type: 'response.reasoning_summary_part.done', ...at, part: { type: 'summary_text', text } })
      }
      emit({ type: 'response.output_item.done', output_index, item: item(status) })
    },
  }
}

/** A tool call being written. */
export interface StreamedCall extends StreamedItem {
  write(delta: string): void
}

/**
 * Creates the call of a function or custom tool. The input of a custom tool comes as one delta at the end, because it
 * is wrapped in JSON that must be complete to be read. That of a tool of the API's own comes with the item.
 */
export function streamCall(
  emit: Emit,
  output_index: number,
  begun: Omit<ToolCall, 'arguments'>,
  tool: CalledTool,
): StreamedCall {
  const id = itemId(tool.isCustom ? 'ctc' : 'fc')
  const at = { item_id: id, output_index }
  const call: ToolCall = { ...begun, arguments: '' }
  const isFunction = !tool.isCustom && tool.own === undefined
  const wrapping = createWrapping()
  const item = (status: ItemStatus) => callItem(id, status, call, tool)
  emit({ type: 'response.output_item.added', output_index, item: item('in_progress') })

  function write(delta: string): void {
    if (delta === '') return
    call.arguments += delta
    wrapping.push(delta)
    if (isFunction && !wrapping.isWrapped()) emit({ type: 'response.function_call_arguments.delta', ...at, delta })
  }

  return {
    write,
    item,
    close(status) {
      // Some models write nothing for a function without parameters, and clients parse the arguments.
      if (call.arguments === '') write('{}')
      // Encoded twice: written at the end, as the object that it is.
      else if (wrapping.isWrapped()) {
        call.arguments = unwrapped(call.arguments)
        if (isFunction) emit({ type: 'response.function_call_arguments.delta', ...at, delta: call.arguments })
      }
      const done = item(status)
      if (done.type === 'custom_tool_call') {
        emit({ type: 'response.custom_tool_call_input.delta', ...at, delta: done.input })
        emit({ type: 'response.custom_tool_call_input.done', ...at, input: done.input })
      } else if (isFunction)
        emit({ type: 'response.function_call_arguments.done', ...at, name: tool.name, arguments: call.arguments })
      emit({ type: 'response.output_item.done', output_index, item: done })
    },
  }
}
