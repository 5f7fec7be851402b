import { createHash } from 'node:crypto'
import { read } from './request-reader.ts'

/** Longest function name in chat completions. Messages allows twice as much. */
const LONGEST_NAME = 64

/** Name in chat of a tool of a Messages request. A name that is too long ends in a hash of the whole. */
export function chatToolName(name: string): string {
  if (name.length <= LONGEST_NAME) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, LONGEST_NAME - 9)}_${hash}`
}

/** Creates a lookup from a tool's name in chat to its name in the Messages request. */
export function calledTools(tools: unknown): (chatName: string) => string {
  const long = read
    .objects(tools, 'tools')
    .map(({ name }, index) => read.text(name, `tools.${index}.name`))
    .filter((name) => name.length > LONGEST_NAME)
  const names = new Map(long.map((name) => [chatToolName(name), name]))
  return (chatName) => names.get(chatName) ?? chatName
}
