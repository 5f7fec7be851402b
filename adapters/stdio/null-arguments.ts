import type { JSONRPCMessage } from '@modelcontextprotocol/server'

/**
 * Removes `"arguments": null` from a `tools/call`; any other message is returned unchanged. Some clients send it for a
 * tool without arguments, and the protocol's schema refuses it.
 */
export function withoutNullArguments(message: JSONRPCMessage): JSONRPCMessage {
  if (!('method' in message) || message.method !== 'tools/call' || message.params?.arguments !== null) return message
  const { arguments: _, ...params } = message.params
  return { ...message, params }
}
