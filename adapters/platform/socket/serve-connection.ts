import type { RawData, WebSocket } from 'ws'
import type { Log } from '../../../src/config/log.ts'
import { errorBody, GazewayError } from '../../../src/errors.ts'
import { serviceStopping } from '../../../src/wire/service-stopping.ts'
import { CLOSE } from './close-codes.ts'
import { type ClientFrame, checkFrame, type ErrorFrame, readFrame, type ServerFrame } from './frame-schemas.ts'
import type { Answer, Speaker } from './socket-answers.ts'
import { createOutbox } from './socket-outbox.ts'

/** Maximum number of frames of a connection that wait for answers. */
const MAX_UNANSWERED = 20

/** Connection of an authenticated client. */
export interface OpenConnection {
  /** Handles an incoming frame. */
  receive(data: RawData, isBinary: boolean): void
  /** Sends a frame that no client frame asked for. */
  send(frame: ServerFrame): void
  /** Stops reading, and closes once the received frames are answered. */
  finish(): Promise<void>
  /** Aborts chats in progress, with `service_stopping`. */
  cutOff(): void
}

/** Dependencies of a connection. */
export interface ConnectionDeps {
  ws: WebSocket
  id: string
  speaker: Speaker
  answer: Answer
  log: Log
  /** Called with each incoming frame. @throws GazewayError to refuse it */
  onFrame: () => void
  /** Called for each chat that ends with an error. */
  onFailedChat: (error: GazewayError) => void
}

/** Serves the socket of an authenticated client until it closes. Answers in progress are then aborted. */
export function serveConnection(deps: ConnectionDeps): OpenConnection {
  const { ws, id, speaker, answer, log, onFrame, onFailedChat } = deps
  const outbox = createOutbox(ws)
  /** Frames in progress. Each has its own signal, so that listeners do not pile up on a long-lived connection. */
  const unanswered = new Set<AbortController>()
  let finishing = false
  let idle = () => {}

  function refuse(error: unknown, { type, id: frameId }: { type: unknown; id?: ClientFrame['id'] }): void {
    const known = error instanceof GazewayError ? error : failed(error)
    if (type === 'chat') onFailedChat(known)
    outbox.send(errorFrame(known, frameId))
  }
  function failed(error: unknown): GazewayError {
    log.error('Failed to answer a frame.', { connection_id: id, err: error })
    return new GazewayError('internal_error', `Internal error. Search the log for ${id}.`)
  }

  async function answerFrame(frame: ClientFrame): Promise<void> {
    const call = new AbortController()
    unanswered.add(call)
    try {
      const reply = await answer(frame, speaker, call.signal)
      outbox.send(frame.id === undefined ? reply : { ...reply, id: frame.id })
    } catch (error) {
      // An answer that was aborted with its connection has no client.
      if (ws.readyState !== ws.CLOSED) refuse(error, frame)
    }
    unanswered.delete(call)
    if (unanswered.size === 0) idle()
  }

  function receive(data: RawData, isBinary: boolean): void {
    if (finishing || ws.readyState !== ws.OPEN) return
    const loose = readFrame(isBinary ? '' : String(data))
    try {
      onFrame()
      if (isBinary) throw binary()
      const frame = checkFrame(loose)
      if (unanswered.size >= MAX_UNANSWERED) throw tooManyUnanswered()
      void answerFrame(frame)
    } catch (error) {
      refuse(error, loose)
    }
  }

  ws.on('message', receive)
  ws.once('close', () => {
    for (const call of unanswered) call.abort()
    idle()
  })
  return {
    receive,
    send: outbox.send,
    async finish() {
      finishing = true
      if (unanswered.size > 0 && ws.readyState === ws.OPEN)
        await new Promise<void>((resolve) => {
          idle = resolve
        })
      ws.close(CLOSE.goingAway, 'The service is stopping.')
    },
    cutOff() {
      for (const call of unanswered) call.abort(serviceStopping())
    },
  }
}

function errorFrame(error: GazewayError, frameId: ClientFrame['id']): ErrorFrame {
  const { code, message, param } = errorBody(error)
  const { retryAfterSeconds } = error
  return {
    type: 'error',
    code: code as ErrorFrame['code'],
    message,
    param,
    ...(retryAfterSeconds !== null && { retry_after_seconds: retryAfterSeconds }),
    ...(frameId !== undefined && { id: frameId }),
  }
}

const binary = (): GazewayError =>
  new GazewayError('validation_failed', 'Binary frames are not accepted. Send JSON in a text frame.')

const tooManyUnanswered = (): GazewayError =>
  new GazewayError(
    'too_many_requests',
    `${MAX_UNANSWERED} frames of this connection are waiting for an answer. Wait for one before you send the next.`,
  )
