import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { markIn } from './anthropic-cache-marks.ts'
import type { Note } from './reported-changes.ts'
import { read, readContent, unsupported } from './request-reader.ts'

/** Instruction in the place of `json_object`. */
const JSON_ALONE = 'Answer with one JSON object, and nothing else.'

/** Tells whether a message of a chat is an instruction. */
export const isSystem = ({ role }: Fields): boolean => role === 'system' || role === 'developer'

/** Number of system messages at the beginning of a chat. */
export function headOf(messages: readonly Fields[]): number {
  const end = messages.findIndex((message) => !isSystem(message))
  return end < 0 ? messages.length : end
}

/**
 * Instructions at the beginning of a chat: text, or blocks where one is marked for the cache. Those of a format that
 * Messages lacks are added in words.
 */
export function instructionsOf(
  messages: readonly Fields[],
  { type }: Fields,
  note: Note,
): string | Fields[] | undefined {
  const head = messages.slice(0, headOf(messages))
  const blocks: Fields[] = head.map(({ content, cache_control }, index) => ({
    type: 'text',
    text: textOf(content, `messages.${index}.content`),
    ...markIn(content),
    ...present({ cache_control }),
  }))
  if (type === 'json_object') {
    note('response_format', 'rewritten')
    blocks.push({ type: 'text', text: JSON_ALONE })
  }
  if (blocks.length === 0) return undefined
  return blocks.some(({ cache_control }) => cache_control !== undefined)
    ? blocks
    : blocks.map(({ text }) => text).join('\n')
}

/** Text of content that may contain nothing else. */
export function textOf(content: unknown, path: string, between = '\n'): string {
  const parts = readContent(content, path)
  if (typeof parts === 'string') return parts
  return parts
    .map((part, index) => {
      const type = read.text(part.type, `${path}.${index}.type`)
      if (type === 'text' || type === 'refusal') return read.text(part[type], `${path}.${index}.${type}`)
      throw unsupported(`${path}.${index}.type`, `Messages does not allow the part type ${type} here`)
    })
    .join(between)
}
