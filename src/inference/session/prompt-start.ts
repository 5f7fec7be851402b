import { crc32 } from 'node:zlib'
import type { ChangedPart } from '../../calls/call-cache.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { isBilling } from '../convert/billing-line.ts'

/** Checksums of the parts that providers put first in a prompt, whatever their place in the request. */
export type PromptStart = Readonly<Record<ChangedPart, number>>

const INSTRUCTIONS: ReadonlySet<unknown> = new Set(['system', 'developer'])

/** Reads the start of the prompt of a request of any API: the names of its tools in their order, and its instructions. */
export const startOf = (body: Fields): PromptStart => ({
  tools: crc32(JSON.stringify(objectsOrNone(body.tools).map(nameOf))),
  instructions: crc32(
    JSON.stringify([textsOf(body.system), textOf(body.instructions), headOf(body.messages), headOf(body.input)]),
  ),
})

/** First part that differs, in the order of prompts. Null for none, and where one start was not read. */
export function changedPart(before: PromptStart | null, present: PromptStart | null): ChangedPart | null {
  if (before === null || present === null) return null
  if (before.tools !== present.tools) return 'tools'
  return before.instructions === present.instructions ? null : 'instructions'
}

/** A text as it is; null for anything else, which may be nested too deeply to be read. */
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const nameOf = (tool: Fields): string | null => textOf(tool.name ?? fieldsOrNone(tool.function).name ?? tool.type)

/** Texts of instructions, without the line about billing, and without marks, which move. */
const textsOf = (content: unknown): unknown =>
  typeof content === 'string'
    ? content
    : objectsOrNone(content).flatMap((part) => (isBilling(part) ? [] : [textOf(part.text)]))

/** Contents of the instructions that messages begin with. */
function headOf(messages: unknown): unknown[] {
  const listed = objectsOrNone(messages)
  const end = listed.findIndex(({ role }) => !INSTRUCTIONS.has(role))
  return listed.slice(0, end < 0 ? listed.length : end).map(({ content }) => textsOf(content))
}
