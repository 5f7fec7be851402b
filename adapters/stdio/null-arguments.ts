import type { JSONRPCMessage } from '@modelcontextprotocol/server'

/**
 * Some clients write `"arguments": null` for a tool that needs none, which the protocol's schema refuses. This takes it
 * off a `tools/call`; any other message comes back unchanged.
 */
export function withoutNullArguments(message: JSONRPCMessage): JSONRPCMessage {
  if (!('method' in message) || message.method !== 'tools/call' || message.params?.arguments !== null) return message
  const { arguments: _, ...params } = message.params
  return { ...message, params }
}
