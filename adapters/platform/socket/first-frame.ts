import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import { GazewayError } from '../../../src/errors.ts'
import { CLOSE } from './close-codes.ts'
import { type AuthFrame, checkAuth, readFrame } from './frame-schemas.ts'

/** Timeout of an unauthenticated client. */
const AUTH_MS = 5_000
/** Maximum number of bytes that it may send. */
const AUTH_BYTES = 4 * 1024
/** The head of a masked frame of that size (RFC 6455 section 5.2). */
const HEAD_BYTES = 8

/** Client's first frame, and frames that came in with it. */
export interface First {
  auth: AuthFrame
  /** Frames that the client sent without waiting for the answer. */
  early: [data: RawData, isBinary: boolean][]
}

/**
 * Waits for the auth frame and pauses the socket, which the caller resumes. Without an auth frame, closes the socket:
 * 4401, or 1009 when more bytes came in than an auth frame can have.
 *
 * @param raw connection below the socket
 * @param authMs timeout in milliseconds; 5 s by default
 * @returns null when the socket is closed or closing
 */
export function firstFrame(ws: WebSocket, raw: Duplex, authMs = AUTH_MS): Promise<First | null> {
  return new Promise((resolve) => {
    let first: First | null = null
    let received = 0

    function settle(): void {
      clearTimeout(timer)
      raw.off('data', count)
      ws.off('close', settle)
      // Frames of the same packet are emitted in the same turn.
      setImmediate(() => {
        ws.off('message', take)
        resolve(first)
      })
    }
    function refuse(code: number, reason: string): void {
      ws.close(code, reason)
      settle()
    }
    function take(data: RawData, isBinary: boolean): void {
      if (first !== null) return void first.early.push([data, isBinary])
      if (ws.readyState !== ws.OPEN) return
      if ((data as Buffer).length > AUTH_BYTES) return void refuse(CLOSE.tooBig, 'The auth frame is over 4 KiB.')
      try {
        first = { auth: readAuth(data, isBinary), early: [] }
        ws.pause()
        settle()
      } catch (error) {
        refuse(CLOSE.unauthenticated, reasonOf(error))
      }
    }
    /** Runs after the socket's own listener, which has emitted every complete frame. */
    function count(chunk: Buffer): void {
      received += chunk.length
      if (first === null && received > AUTH_BYTES + HEAD_BYTES) refuse(CLOSE.tooBig, 'The auth frame is over 4 KiB.')
    }

    const timer = setTimeout(() => refuse(CLOSE.unauthenticated, 'No auth frame came in time.'), authMs)
    ws.on('message', take)
    ws.once('close', settle)
    raw.on('data', count)
  })
}

/** @throws GazewayError for any other frame */
function readAuth(data: RawData, isBinary: boolean): AuthFrame {
  if (isBinary) throw new GazewayError('validation_failed', 'The auth frame must be text.')
  return checkAuth(readFrame(String(data)))
}

/** Builds a close reason, which has at most 123 bytes (RFC 6455 section 5.5). */
function reasonOf(error: unknown): string {
  const message = error instanceof GazewayError ? error.message : 'It could not be read.'
  return `The first frame must be auth. ${message}`.replace(/[^\x20-\x7e]/g, '?').slice(0, 123)
}
