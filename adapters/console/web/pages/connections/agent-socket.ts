import type { Query, ServerFrame } from '../../../../platform/socket/frame-schemas.ts'

/** An open agent socket. */
export interface AgentSocket {
  send(frame: { type: 'chat'; content: string } | { type: Query }): void
  close(): void
}

/** Reasons of a closed socket, by code. */
const CLOSED: Record<number, string> = {
  1000: 'The connection was closed.',
  1001: 'Gazeway stopped. Connect again when Gazeway is running.',
  1009: 'The message was too long. The limit is 256 KiB.',
  1011: 'Gazeway failed. Connect again.',
  1013: 'The store did not answer. Connect again.',
  4000: 'Someone closed this connection.',
  4401: 'The ticket or its key is no longer valid. Connect again.',
}

/**
 * Opens the agent socket with a ticket.
 *
 * @param options.onClose called once with the reason when either side closes
 */
export function openAgentSocket(
  { url, ticket, sessionId }: { url: string; ticket: string; sessionId: string | null },
  options: { onFrame: (frame: ServerFrame) => void; onClose: (why: string) => void },
): AgentSocket {
  const address = sessionId === null ? url : `${url}?session_id=${encodeURIComponent(sessionId)}`
  const socket = new WebSocket(address, ['gazeway.v1', `ticket.${ticket}`])
  let opened = false
  socket.onmessage = ({ data }) => {
    opened = true
    options.onFrame(JSON.parse(String(data)) as ServerFrame)
  }
  socket.onclose = ({ code, reason }) => {
    const unknown = opened
      ? `The connection ended (${code} ${reason}). Connect again.`
      : 'The connection could not be opened. Retry.'
    options.onClose(CLOSED[code] ?? unknown)
  }
  return { send: (frame) => socket.send(JSON.stringify(frame)), close: () => socket.close(1000) }
}
