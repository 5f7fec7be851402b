import type { WebSocket } from 'ws'
import type { ServerFrame } from './frames.ts'

/** Unsent bytes above which nothing more is read from a client, until it has taken half of them. */
const PAUSE_BYTES = 256 * 1024
/** Unsent bytes at which a client is given up: it has stopped to read. */
const MOST_BYTES = 4 * 1024 * 1024

/** Outgoing frames of one client. */
export interface Outbox {
  /** Sends a frame; on a socket that is closing, nothing. */
  send(frame: ServerFrame): void
}

/**
 * Sends frames to a client, and reads from it no faster than it reads. One that has stopped to read, and has 4 MiB of
 * answers waiting, is cut off; one with less is when it does not answer a ping.
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
      if (waiting > MOST_BYTES) ws.terminate()
      else if (waiting > PAUSE_BYTES && !held) {
        held = true
        ws.pause()
      }
    },
  }
}
