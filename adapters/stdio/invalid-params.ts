import { type JSONRPCMessage, ProtocolErrorCode } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { parseJson } from '../../src/text/json.ts'

const Issues = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() })).min(1)

const CODES = new Set<number>([ProtocolErrorCode.InternalError, ProtocolErrorCode.InvalidParams])

/** Text of the SDK before zod's issues when it knows the method. */
const PREFIX = /^Invalid [a-z/]+ request: /

/**
 * Corrects the SDK's error for invalid parameters; any other message is returned unchanged.
 *
 * The SDK sends zod's issues as JSON, mostly with the code of an internal error. This replaces the code with -32602 of
 * JSON-RPC, and the message with a sentence that names the fields.
 */
export function toInvalidParams(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message) || !CODES.has(message.error.code)) return message
  const issues = Issues.safeParse(parseJson(message.error.message.replace(PREFIX, '')))
  if (!issues.success) return message
  const faults = issues.data.slice(0, 3).map((issue) => `${issue.path.join('.')}: ${issue.message}.`)
  return { ...message, error: { code: ProtocolErrorCode.InvalidParams, message: faults.join(' ') } }
}
