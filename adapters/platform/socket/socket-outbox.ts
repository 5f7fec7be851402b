import type { WebSocket } from 'ws'
import type { ServerFrame } from './frame-schemas.ts'

/** Unsent bytes above which reading from a client pauses. It resumes at half of them. */
const PAUSE_BYTES = 256 * 1024
/** Unsent bytes above which a client is disconnected, because it has stopped reading. */
const MAX_BYTES = 4 * 1024 * 1024

/** Outgoing frames of one client. */
export interface Outbox {
  /** Sends a frame. Does nothing on a closing socket. */
  send(frame: ServerFrame): void
}

/**
 * Sends frames to a client, with backpressure: it reads from the client no faster than the client reads. A client that
 * has stopped reading is disconnected when 4 MiB of answers are waiting. Before that, an unanswered ping disconnects
 * it.
 */
export function createOutbox(ws: WebSocket): Outbox {
  let held = false

  function sent(): void {
    if (!held || ws.bufferedAmount > PAUSE_BYTES / 2) return
    held = false
    ws.resume()
  }

  return {
    send(frame) {
      if (ws.readyState !== ws.OPEN) return
      ws.send(JSON.stringify(frame), sent)
      const waiting = ws.bufferedAmount
      if (waiting > MAX_BYTES) ws.terminate()
      else if (waiting > PAUSE_BYTES && !held) {
        held = true
        ws.pause()
      }
    },
  }
}
