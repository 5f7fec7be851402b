import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { splitEvents } from '../../wire/whole-sse-events.ts'
import { eventData } from './event-data.ts'

/** Maximum number of ids recorded per answer. */
const MOST = 1000
/** Parts of the events of a stream that name what it creates. */
const NAMING = ['response.created', 'response.output_item.done', '"container"']

/**
 * Finds the ids under which an upstream stores a Response and what belongs to it: items, containers, the conversation.
 * Of a Response that is not stored, only its own id.
 *
 * @param asked the request; what it names was not created by it
 */
export function madeByResponse(response: unknown, asked: object): string[] {
  const { id, conversation, output } = fieldsOrNone(response)
  const kept = isStored(asked, response)
    ? [...madeConversation(conversation, asked), ...objectsOrNone(output).flatMap((item) => madeByItem(item, asked))]
    : []
  return [...(isText(id) ? [id] : []), ...kept].slice(0, MOST)
}

/** Finds the id of the container that an upstream created for a Message. */
export const madeByMessage = ({ container }: { container?: unknown }, asked: object): string[] =>
  [fieldsOrNone(container).id].filter(isText).filter((id) => !isNamedIn(fieldsOrNone(asked).container, id))

/** Ids of objects that a streamed Response or Message creates. */
export interface MadeByStream {
  /** Reads whole events. Those that name no object are not parsed. */
  read(events: Buffer): void
  ids(): readonly string[]
}

/** Collects the ids of a stream, as `madeByResponse` and `madeByMessage`. */
export function madeByStream(asked: object): MadeByStream {
  const ids: string[] = []
  let stores = isStored(asked, {})
  function madeBy(data: Fields): string[] {
    if (data.type === 'response.output_item.done') return stores ? madeByItem(fieldsOrNone(data.item), asked) : []
    if (data.type !== 'response.created') return madeByMessage(fieldsOrNone(data.message ?? data.delta), asked)
    stores = isStored(asked, data.response)
    return madeByResponse(data.response, asked)
  }
  return {
    read(events) {
      if (ids.length >= MOST || !NAMING.some((text) => events.includes(text))) return
      for (const event of splitEvents(events)) ids.push(...madeBy(fieldsOrNone(eventData(event))))
    },
    ids: () => ids,
  }
}

const isText = (id: unknown): id is string => typeof id === 'string'

const isStored = (asked: object, response: unknown): boolean =>
  fieldsOrNone(asked).store !== false && fieldsOrNone(response).store !== false

/** Id of a conversation that the request has not named: an operator's own may be used by several keys. */
const madeConversation = (conversation: unknown, asked: object): string[] =>
  (fieldsOrNone(asked).conversation ?? null) === null ? [fieldsOrNone(conversation).id].filter(isText) : []

/** Ids of an output item, and of the container that was created for it. */
function madeByItem({ id, container_id, environment }: Fields, asked: object): string[] {
  const container = container_id ?? fieldsOrNone(environment).container_id
  return [id, isText(container) && !isNamedIn(fieldsOrNone(asked).tools, container) ? container : null].filter(isText)
}

const isNamedIn = (part: unknown, id: string): boolean => (JSON.stringify(part) ?? '').includes(JSON.stringify(id))
