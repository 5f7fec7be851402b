import type { RawData, WebSocket } from 'ws'
import type { Log } from '../../../src/config/log.ts'
import { GazewayError } from '../../../src/errors.ts'
import { newId } from '../../../src/text/ids.ts'
import { fieldsOrNone } from '../../../src/text/lenient-reader.ts'
import type { BufferedBytes } from '../../../src/wire/buffered-bytes.ts'
import type { CountedRequest, EarlierResponse } from './earlier-response.ts'
import { isAcknowledgement } from './socket-message.ts'
import { errorMessage, type SocketReceiver, socketReceiver } from './socket-receiver.ts'

/** Messages that may be refused while a response is under way. A client that goes on is disconnected. */
const MOST_REFUSED = 20
/** Unsent bytes above which no further message is answered: the client does not read. */
const MOST_UNSENT = 1024 * 1024

/** Close codes, RFC 6455 section 7.4. */
export const CLOSE = { normal: 1000, goingAway: 1001, binary: 1003, policy: 1008, failed: 1011 } as const

/** A request of a connection. */
export interface TurnRequest {
  /** The message as it came, counted among the bodies in memory until the request itself is. */
  message: Buffer
  earlier: EarlierResponse
  requestId: string
  receiver: SocketReceiver
  /** Called with the request once it has been read. */
  onRead(request: CountedRequest): void
}

/** Connection whose responses come one after another. */
export interface SocketTurns {
  /** Closes the connection, after the response under way. */
  finish(): void
}

/** Dependencies of a connection. */
export interface TurnDeps {
  ws: WebSocket
  earlier: EarlierResponse
  /** Counts messages among the bodies in memory, for the caller. */
  buffered: BufferedBytes
  callerId: string
  /** Makes a request. @throws GazewayError before the first event */
  ask(request: TurnRequest): Promise<void>
  log: Log
  /** Called when nothing is under way, and when something is. */
  onIdle(isIdle: boolean): void
}

/**
 * Answers the messages of a connection, one response at a time: a message that comes while one is under way is refused.
 * One that comes between the last event of a response and its record waits for that.
 */
export function serveTurns({ ws, earlier, buffered, callerId, ask, log, onIdle }: TurnDeps): SocketTurns {
  let current: SocketReceiver | null = null
  let waiting: Buffer | null = null
  let refused = 0
  let finishing = false

  const refuse = (error: GazewayError) => ws.send(errorMessage(error, newId('req')))

  function receive(data: RawData, isBinary: boolean): void {
    if (finishing || ws.readyState !== ws.OPEN) return
    const message = data as Buffer
    const isFree = current === null || (current.isOver() && waiting === null)
    if (isBinary) ws.close(CLOSE.binary, 'Send JSON in text messages.')
    else if (isAcknowledgement(message)) return
    else if (isFree && ws.bufferedAmount > MOST_UNSENT) ws.terminate()
    else if (isFree) admit(message)
    else if (++refused > MOST_REFUSED) ws.close(CLOSE.policy, 'Wait for the response before you ask for the next.')
    else refuse(busy())
  }

  /** Answers a message, or lets it wait for the record of the response before it. */
  function admit(message: Buffer): void {
    try {
      buffered.take({ request: message, callerId }, message.length)
      if (current === null) void run(message)
      else waiting = message
    } catch (error) {
      refuse(error as GazewayError)
    }
  }

  async function run(message: Buffer): Promise<void> {
    const requestId = newId('req')
    let request: CountedRequest | null = null
    const receiver = socketReceiver(ws, ({ response }) => {
      if (request !== null) keep(request, response)
    })
    current = receiver
    onIdle(false)
    try {
      const onRead = (read: CountedRequest) => {
        request = read
      }
      await ask({ message, earlier, requestId, receiver, onRead })
      if (!receiver.isOver()) receiver.fail(cutOff(), requestId)
    } catch (error) {
      receiver.fail(error instanceof GazewayError ? error : failed(error, requestId), requestId)
    }
    buffered.release(message)
    current = null
    refused = 0
    goOn()
  }

  /** Answers the message that waits, unless the connection closes. */
  function goOn(): void {
    const next = waiting
    waiting = null
    const isOpen = ws.readyState === ws.OPEN && !finishing
    if (finishing) ws.close(CLOSE.goingAway, 'The service is stopping.')
    if (next !== null && isOpen) void run(next)
    else if (next !== null) buffered.release(next)
    else if (isOpen) onIdle(true)
  }

  /** Keeps a response that no upstream stored, of a request with the whole conversation. */
  function keep(request: CountedRequest, response: unknown): void {
    // A closed connection has forgotten its response, and nobody would forget this one.
    if (ws.readyState !== ws.OPEN) return
    const { store, status } = fieldsOrNone(response)
    if (status === 'failed' || status === undefined) return
    const isWhole = request.json.previous_response_id === undefined
    if (isWhole && (request.json.store === false || store === false)) earlier.keep(request, response)
    else earlier.forget()
  }

  function failed(err: unknown, request_id: string): GazewayError {
    log.error('A request of a socket failed.', { request_id, err })
    return new GazewayError('internal_error', 'Internal error. Search the log for this request id.')
  }

  ws.on('message', receive)
  ws.once('close', () => current?.gone())
  return {
    finish() {
      finishing = true
      if (current === null) ws.close(CLOSE.goingAway, 'The service is stopping.')
    },
  }
}

const busy = (): GazewayError =>
  new GazewayError('too_many_requests', 'A response of this connection is under way. Wait for its last event.')

const cutOff = (): GazewayError => new GazewayError('upstream_bad_reply', 'The answer ended before its last event.')
