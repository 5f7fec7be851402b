import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

/**
 * The SDK's errors carry their code in front of their message, and a client's SDK puts it there once more. This takes it
 * off an answer, which has the code beside the message anyway; any other message comes back unchanged.
 */
export function toPlainError(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message
  const { error } = message
  const prefix = `MCP error ${error.code}: `
  return error.message.startsWith(prefix)
    ? { ...message, error: { ...error, message: error.message.slice(prefix.length) } }
    : message
}
