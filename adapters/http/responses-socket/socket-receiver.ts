import type { WebSocket } from 'ws'
import { CODES, type ErrorCode, type GazewayError, linkedErrorBody } from '../../../src/errors.ts'
import { LAST_EVENTS } from '../../../src/inference/api/finish-reason.ts'
import { type EventData, eventData } from '../../../src/inference/observe/event-data.ts'
import type { Receiver } from '../../../src/inference/relay/receiver.ts'
import { isObject, parseJson } from '../../../src/text/json.ts'
import { splitEvents, wholeEvents } from '../../../src/wire/whole-sse-events.ts'

/** Unsent bytes above which the upstream is paused. It resumes at half of them. */
const PAUSE_BYTES = 256 * 1024

/** Receiver of one answer on a WebSocket: each event of its stream is a message. */
export interface SocketReceiver extends Receiver {
  /** Answers with an error in place of events. */
  fail(error: GazewayError, requestId: string): void
  /** Called when the connection closes. Listeners of its own, so that they do not pile up on the connection. */
  gone(): void
  /** Tells whether the answer has ended for the client. */
  isOver(): boolean
}

/** Code by which clients know that they must send the whole conversation. */
const FORGOTTEN = 'previous_response_not_found'

/** Error message of WebSocket mode, by OpenAI's reference: clients take its status as that of a reply over HTTP. */
export function errorMessage(error: GazewayError, requestId: string): string {
  const { status, retryAfterSeconds, param } = error
  const body = linkedErrorBody(error, requestId)
  return JSON.stringify({
    type: 'error',
    status,
    error: param === 'previous_response_id' ? { ...body, code: FORGOTTEN } : body,
    ...(retryAfterSeconds !== null && { headers: { 'retry-after': String(Math.ceil(retryAfterSeconds)) } }),
  })
}

/**
 * Creates the receiver of an answer.
 *
 * @param onEnd called with each event that ends the answer
 */
export function socketReceiver(ws: WebSocket, onEnd: (event: EventData) => void): SocketReceiver {
  const events = wholeEvents()
  const listeners: (() => void)[] = []
  let resume: (() => void) | undefined
  let over = false

  function sent(): void {
    if (ws.bufferedAmount > PAUSE_BYTES / 2) return
    const waiting = resume
    resume = undefined
    waiting?.()
  }
  function send(text: string): boolean {
    if (ws.readyState === ws.OPEN) ws.send(text, sent)
    return ws.bufferedAmount <= PAUSE_BYTES
  }
  function pass(bytes: Buffer | null): void {
    if (bytes === null) return
    for (const one of splitEvents(bytes)) {
      const event = eventData(one)
      if (event === null || over) continue
      const isError = event.type === 'error'
      over = isError || LAST_EVENTS.includes(event.type)
      send(JSON.stringify(isError ? withStatus(event) : event))
      if (over) onEnd(event)
    }
  }
  const receiver: SocketReceiver = {
    isGone: () => ws.readyState !== ws.OPEN,
    onGone: (listener) => void listeners.push(listener),
    gone() {
      for (const listener of listeners) listener()
    },
    whole(status, headers, bytes) {
      const text = String(bytes)
      if (status < 400 && /^text\/event-stream\b/.test(headers['content-type'] ?? '')) return receiver.end(bytes)
      const body = parseJson(text)
      const fields = isObject(body) ? body : {}
      if (status < 400)
        pass(Buffer.from(`data: ${JSON.stringify({ type: 'response.completed', response: fields })}\n\n`))
      else pass(Buffer.from(`data: ${JSON.stringify({ type: 'error', status, ...fields, headers })}\n\n`))
    },
    head() {},
    beat: () => ws.ping(),
    write(bytes) {
      pass(events.push(Buffer.from(bytes as Buffer)))
      return ws.bufferedAmount <= PAUSE_BYTES
    },
    onDrain(listener) {
      resume = listener
      // What was waiting may be sent already.
      if (ws.bufferedAmount === 0) setImmediate(sent)
    },
    drop: () => ws.terminate(),
    end(bytes) {
      if (bytes !== undefined) receiver.write(bytes)
      pass(events.rest())
    },
    fail(error, requestId) {
      if (over) return
      over = true
      send(errorMessage(error, requestId))
    },
    isOver: () => over,
  }
  return receiver
}

/** An error event of a stream with the status that it would have had as a reply. */
function withStatus(event: EventData): object {
  const status = CODES[event.code as ErrorCode]?.status ?? 500
  return { status, ...event, error: event.error ?? { code: event.code, message: event.message } }
}
