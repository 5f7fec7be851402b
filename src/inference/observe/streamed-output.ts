import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { itemId, messageItem, textPart } from '../convert/response-items.ts'

/** Output of a stream of Responses events so far. */
export interface StreamedOutput {
  push(event: object): void
  /**
   * Completes the Response that ends the stream. Some upstreams omit its output there: it then gets the items streamed,
   * or a message with the text streamed.
   */
  complete<T extends object>(response: T): T
}

/** Creates a collector of streamed output. */
export function streamedOutput(): StreamedOutput {
  const items = new Map<number, unknown>()
  let text = ''
  return {
    push(event) {
      const { type, delta, item, output_index: at } = fieldsOrNone(event)
      if (type === 'response.output_text.delta' && typeof delta === 'string') text += delta
      if (type === 'response.output_item.done') items.set(typeof at === 'number' ? at : items.size, item)
    },
    complete(response) {
      const { output, status } = fieldsOrNone(response)
      if (Array.isArray(output) && output.length > 0) return response
      if (items.size > 0) return { ...response, output: [...items].sort(([a], [b]) => a - b).map(([, item]) => item) }
      if (text === '') return response
      const how = status === 'incomplete' ? 'incomplete' : 'completed'
      return { ...response, output: [messageItem(itemId('msg'), how, [textPart(text)])] }
    },
  }
}
