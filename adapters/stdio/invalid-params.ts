import { ErrorCode, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { parseJson } from '../../src/text/json.ts'

const Issues = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() })).min(1)

/**
 * The SDK answers parameters that a method does not take with "internal error" and zod's issues as JSON. This gives such
 * an answer the code that JSON-RPC has for it, -32602, and a sentence that names the fields; any other message comes back
 * unchanged.
 */
export function toInvalidParams(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message) || message.error.code !== ErrorCode.InternalError) return message
  const issues = Issues.safeParse(parseJson(message.error.message))
  if (!issues.success) return message
  const faults = issues.data.slice(0, 3).map((issue) => `${issue.path.join('.')}: ${issue.message}.`)
  return { ...message, error: { code: ErrorCode.InvalidParams, message: faults.join(' ') } }
}
