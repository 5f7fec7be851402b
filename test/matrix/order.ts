type Event = Record<string, unknown> & { type?: string }

/** Faults in the order of the events of a stream, by the API of its client. Empty when there are none. */
export const orderFaults: Readonly<Record<'M' | 'R' | 'C', (events: Event[]) => string[]>> = {
  M: messageFaults,
  R: responseFaults,
  C: chunkFaults,
}

/** Types of blocks in which a delta may stand. */
const HOLDERS: Readonly<Record<string, readonly unknown[]>> = {
  text_delta: ['text'],
  thinking_delta: ['thinking'],
  signature_delta: ['thinking'],
  input_json_delta: ['tool_use', 'server_tool_use'],
}

const typeIn = (part: unknown): unknown => (part as Event | undefined)?.type

/** https://docs.claude.com/en/docs/build-with-claude/streaming */
function messageFaults(events: Event[]): string[] {
  const faults: string[] = []
  let next = 0
  let open: number | null = null
  let kind: unknown = null
  const all = events.filter(({ type }) => type !== 'ping')
  for (const [at, { type, index, content_block, delta }] of all.entries()) {
    if ((type === 'message_start') !== (at === 0) && type !== 'error') faults.push(`${type} at ${at}`)
    if (type === 'content_block_start') {
      if (open !== null || index !== next) faults.push(`block ${index} begins`)
      open = next++
      kind = typeIn(content_block)
    } else if (type === 'content_block_delta') {
      if (index !== open) faults.push(`delta of ${index}`)
      if (HOLDERS[String(typeIn(delta))]?.includes(kind) === false) faults.push(`${typeIn(delta)} in ${kind}`)
    }
    if (type === 'content_block_stop') {
      if (index !== open) faults.push(`block ${index} ends`)
      open = null
    } else if (type === 'message_delta' && open !== null) faults.push('message_delta in a block')
  }
  const last = all.at(-1)?.type
  if (last !== 'message_stop' && last !== 'error') faults.push(`ends with ${last}`)
  if (last === 'message_stop' && all.at(-2)?.type !== 'message_delta') faults.push('no message_delta')
  return faults
}

const ENDS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error'])

/** https://platform.openai.com/docs/api-reference/responses-streaming */
function responseFaults(events: Event[]): string[] {
  const faults: string[] = []
  const open = new Set<unknown>()
  let next = 0
  for (const [at, { type, sequence_number, output_index }] of events.entries()) {
    if (sequence_number !== at) faults.push(`${type} has number ${sequence_number}`)
    if ((type === 'response.created') !== (at === 0) && type !== 'error') faults.push(`${type} at ${at}`)
    if (type === 'response.output_item.added') {
      if (output_index !== next++) faults.push(`item ${output_index} begins`)
      open.add(output_index)
    } else if (output_index !== undefined && !open.has(output_index)) faults.push(`${type} of ${output_index}`)
    if (type === 'response.output_item.done') open.delete(output_index)
  }
  const last = events.at(-1)?.type
  if (!ENDS.has(last)) faults.push(`ends with ${last}`)
  if (last === 'response.completed' && open.size > 0) faults.push('items are open at the end')
  return faults
}

function chunkFaults(events: Event[]): string[] {
  const faults = events.flatMap(({ object, choices, error }, at) =>
    error !== undefined || (object === 'chat.completion.chunk' && Array.isArray(choices)) ? [] : [`no chunk at ${at}`],
  )
  const ended = events.findIndex(({ choices }) => (choices as Event[] | undefined)?.[0]?.finish_reason)
  const later = ended < 0 ? [] : events.slice(ended + 1).flatMap(({ choices }) => (choices as Event[]) ?? [])
  return later.some(({ delta }) => (delta as Event)?.content || (delta as Event)?.tool_calls)
    ? [...faults, 'output after its end']
    : faults
}
