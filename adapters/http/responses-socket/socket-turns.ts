import type { RawData, WebSocket } from 'ws'
import type { Log } from '../../../src/config/log.ts'
import { GazewayError } from '../../../src/errors.ts'
import { continuedRequest } from '../../../src/inference/continue/continued-request.ts'
import { newId } from '../../../src/text/ids.ts'
import { isObject, parseJson } from '../../../src/text/json.ts'
import { fieldsOrNone } from '../../../src/text/lenient-reader.ts'
import type { Fields } from '../../../src/text/typed-reader.ts'
import type { EarlierResponse } from './earlier-response.ts'
import { errorMessage, type SocketReceiver, socketReceiver } from './socket-receiver.ts'
import { warmedUp } from './warm-up.ts'

/** Messages that may be refused while a response is under way. A client that goes on is disconnected. */
const MOST_REFUSED = 20

/** Close codes, RFC 6455 section 7.4. */
export const CLOSE = { normal: 1000, goingAway: 1001, binary: 1003, policy: 1008, failed: 1011 } as const

/** A request of a connection. */
export interface TurnRequest {
  /** The body that `POST /v1/responses` would have. */
  body: Fields
  requestId: string
  receiver: SocketReceiver
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
export function serveTurns({ ws, earlier, ask, log, onIdle }: TurnDeps): SocketTurns {
  let current: SocketReceiver | null = null
  let waiting: string | null = null
  let refused = 0
  let finishing = false

  const refuse = (error: GazewayError) => ws.send(errorMessage(error, newId('req')))

  function receive(data: RawData, isBinary: boolean): void {
    if (finishing || ws.readyState !== ws.OPEN) return
    const text = String(data)
    if (isBinary) ws.close(CLOSE.binary, 'Send JSON in text messages.')
    else if (current === null) void run(text)
    else if (current.isOver() && waiting === null) waiting = text
    else if (++refused > MOST_REFUSED) ws.close(CLOSE.policy, 'Wait for the response before you ask for the next.')
    else refuse(busy())
  }

  async function run(text: string): Promise<void> {
    const requestId = newId('req')
    let request: Fields = {}
    const receiver = socketReceiver(ws, ({ response }) => keep(request, response))
    current = receiver
    onIdle(false)
    try {
      const message = readMessage(text)
      if (message !== null) {
        request = continued(message.body, earlier)
        if (message.generates) await ask({ body: request, requestId, receiver })
        else warmedUp(receiver, request)
        if (!receiver.isOver()) receiver.fail(cutOff(), requestId)
      }
    } catch (error) {
      receiver.fail(error instanceof GazewayError ? error : failed(error, requestId), requestId)
    }
    current = null
    refused = 0
    const next = waiting
    waiting = null
    if (finishing) ws.close(CLOSE.goingAway, 'The service is stopping.')
    else if (next === null || ws.readyState !== ws.OPEN) onIdle(true)
    else await run(next)
  }

  /** Keeps a response that no upstream stored, of a request with the whole conversation. */
  function keep(request: Fields, response: unknown): void {
    const { store, status } = fieldsOrNone(response)
    if (status === 'failed' || status === undefined) return
    const isWhole = request.previous_response_id === undefined
    if (isWhole && (request.store === false || store === false)) earlier.keep(request, response)
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

/**
 * Reads a message.
 *
 * @returns null for one that needs no answer. `generates` is false for a request that only prepares the next one
 * @throws GazewayError `invalid_json`, `validation_failed`
 */
function readMessage(text: string): { body: Fields; generates: boolean } | null {
  const message = parseJson(text)
  if (!isObject(message)) throw new GazewayError('invalid_json', 'The message is not a JSON object.')
  const { type, generate, stream_id: _, background: __, ...body } = message
  // Codex acknowledges responses with it.
  if (type === 'response.processed') return null
  if (type !== 'response.create')
    throw new GazewayError('validation_failed', 'type: must be response.create.', { param: 'type' })
  return { body: { ...body, stream: true }, generates: generate !== false }
}

/**
 * The request with the conversation that it continues, if this connection has it.
 *
 * @throws GazewayError `not_found` for another one that was not stored either
 */
function continued(request: Fields, earlier: EarlierResponse): Fields {
  const { previous_response_id: id, store } = request
  if (typeof id !== 'string') return request
  const items = earlier.itemsOf(id)
  if (items !== null) return continuedRequest(request, items)
  if (store !== false) return request
  throw new GazewayError('not_found', `This connection has no response ${id.slice(0, 200)}. Send the whole input.`, {
    status: 400,
    param: 'previous_response_id',
  })
}

const busy = (): GazewayError =>
  new GazewayError('too_many_requests', 'A response of this connection is under way. Wait for its last event.')

const cutOff = (): GazewayError => new GazewayError('upstream_bad_reply', 'The answer ended before its last event.')
