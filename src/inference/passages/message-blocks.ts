import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { type EventData, eventData } from '../observe/event-data.ts'
import { mapEvents } from './mapped-events.ts'
import { toSse } from './upstream-reply.ts'

/** Marks of events that need a look, as bytes. */
const BLOCK_START = Buffer.from('content_block_start')
const THINKING_DELTA = Buffer.from('thinking_delta')
const TEXT_DELTA = Buffer.from('text_delta')

/** Blocks whose deltas some servers mix, by the type of the delta. */
const BLOCKS: Readonly<Record<string, { type: string; [field: string]: string }>> = {
  thinking_delta: { type: 'thinking', thinking: '', signature: '' },
  text_delta: { type: 'text', text: '' },
}
const MIXED: ReadonlySet<unknown> = new Set(['thinking', 'text'])

/** Watches the blocks of a streamed Message. */
export interface MessageBlocks {
  /** Reads whole events. @returns the events for the client; the same where each delta fits its block */
  read(events: Buffer): Buffer
}

/**
 * Begins a new block where a delta does not fit the one that is open: servers in front of models that think send thoughts in
 * a block of text (https://github.com/BerriAI/litellm/issues/33224), at which Claude Code ends.
 */
export function watchMessageBlocks(): MessageBlocks {
  /** Type of the block that began last. */
  let open: unknown = null

  function readEvent(event: Buffer): Buffer[] {
    const data: (EventData & { index?: unknown }) | null = eventData(event)
    if (data?.type === 'content_block_start') open = fieldsOrNone(data.content_block).type
    if (data?.type !== 'content_block_delta' || !MIXED.has(open)) return [event]
    const block = BLOCKS[String(fieldsOrNone(data.delta).type)]
    if (block === undefined || block.type === open) return [event]
    open = block.type
    const { index } = data
    const between = [
      { type: 'content_block_stop', index },
      { type: 'content_block_start', index, content_block: block },
    ]
    return [toSse(between), event]
  }

  const isMarked = (events: Buffer): boolean =>
    events.includes(BLOCK_START) ||
    (open === 'text' && events.includes(THINKING_DELTA)) ||
    (open === 'thinking' && events.includes(TEXT_DELTA))

  return { read: (events) => (isMarked(events) ? mapEvents(events, readEvent) : events) }
}
