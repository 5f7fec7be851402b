import { createHash } from 'node:crypto'
import { asText, records } from './loose.ts'

/** As long as the name of a function may be in chat completions; Messages takes twice as much. */
const LONGEST_NAME = 64

/** What chat completions calls a tool of a Messages request: one that is too long ends in a hash of the whole. */
export function chatToolName(name: string): string {
  if (name.length <= LONGEST_NAME) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, LONGEST_NAME - 9)}_${hash}`
}

/** Finds the name that a Messages request has for a tool that is called in chat. */
export function calledTools(tools: unknown): (chatName: string) => string {
  const long = records(tools)
    .map(({ name }) => asText(name))
    .filter((name) => name.length > LONGEST_NAME)
  const names = new Map(long.map((name) => [chatToolName(name), name]))
  return (chatName) => names.get(chatName) ?? chatName
}
