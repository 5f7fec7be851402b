import { type JSONRPCMessage, ProtocolErrorCode } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { parseJson } from '../../src/text/json.ts'

const Issues = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() })).min(1)

const CODES = new Set<number>([ProtocolErrorCode.InternalError, ProtocolErrorCode.InvalidParams])

/** Prefix of the SDK before zod's issues when it knows the method. */
const PREFIX = /^Invalid [a-z/]+ request: /

/**
 * The SDK answers parameters that a method does not take with zod's issues as JSON, mostly under the code of an internal
 * error. This gives such an answer the code that JSON-RPC has for it, -32602, and a sentence that names the fields; any
 * other message comes back unchanged.
 */
export function toInvalidParams(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message) || !CODES.has(message.error.code)) return message
  const issues = Issues.safeParse(parseJson(message.error.message.replace(PREFIX, '')))
  if (!issues.success) return message
  const faults = issues.data.slice(0, 3).map((issue) => `${issue.path.join('.')}: ${issue.message}.`)
  return { ...message, error: { code: ProtocolErrorCode.InvalidParams, message: faults.join(' ') } }
}
