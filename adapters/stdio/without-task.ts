import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

/**
 * A server that has not declared tasks processes a request that asks for one as any other (MCP 2025-11-25, utilities,
 * tasks); the SDK answers it with an error. This takes `task` off a request; any other message comes back unchanged.
 */
export function withoutTask(message: JSONRPCMessage): JSONRPCMessage {
  if (!('method' in message) || message.params?.task === undefined) return message
  const { task: _, ...params } = message.params
  return { ...message, params }
}
