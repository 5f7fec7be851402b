import type { IncomingMessage } from 'node:http'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { OpenCalls } from '../../../src/inference/inference.ts'
import { readable } from '../../../src/inference/relay/request-body.ts'
import { structureBytes } from '../../../src/text/json-structure.ts'
import { isLenient } from '../../web/arrival.ts'
import { modelBodyLimit, tooLarge } from '../../web/body-limit.ts'
import { addressOf } from '../../web/client-address.ts'
import type { OnRefused } from '../../web/refused-calls.ts'
import { responsesAsk } from '../continued-ask.ts'
import { callContext } from '../routes/chat-completions-route.ts'
import { checkResponses } from '../routes/responses-route.ts'
import type { EarlierResponse } from './earlier-response.ts'
import { PATH, type SocketCallers } from './socket-callers.ts'
import { continuedMessage, readMessage, type SocketRequest } from './socket-message.ts'
import type { TurnRequest } from './socket-turns.ts'
import { warmedUp } from './warm-up.ts'

/** Makes a request of a connection, as one over HTTP. @throws GazewayError before its first event */
export type SocketAsk = (request: TurnRequest, incoming: IncomingMessage, callerId: string) => Promise<void>

/** @param deps.refused called with each error, for the record of a refused call */
export function createSocketAsk(
  gateway: Gateway,
  deps: { calls: OpenCalls; callers: SocketCallers; refused: OnRefused },
): SocketAsk {
  const { calls, callers, refused } = deps
  const { buffered } = gateway
  const ask = responsesAsk(calls, gateway)

  /** Reads the request of a message, with the conversation that it continues if the connection has it. */
  async function read({ message, earlier, receiver, onRead }: TurnRequest, callerId: string): Promise<SocketRequest> {
    const take = (bytes: number) => buffered.take({ request: receiver, callerId }, bytes)
    const size = sizeOf(message)
    buffered.release(message)
    take(size)
    const own = await readMessage(message)
    const before = conversationOf(own, earlier)
    if (before === null) {
      onRead({ json: own.json, isExact: own.isExact, size })
      return own
    }
    take(before.size)
    // The next response takes its place; a request that fails must not be continued from before it.
    earlier.forget()
    const whole = await continuedMessage(own, before.items, size + before.size)
    const exact = sizeOf(whole.bytes)
    buffered.release(receiver)
    take(exact)
    onRead({ json: whole.json, isExact: whole.isExact, size: exact })
    return whole
  }

  async function made(turn: TurnRequest, incoming: IncomingMessage): Promise<void> {
    const { requestId, receiver } = turn
    const identity = await callers.authenticate(incoming)
    try {
      const request = await read(turn, identity.id)
      checkResponses(request.json)
      const limit = modelBodyLimit(gateway, identity.id)
      if (request.bytes.length > limit.bytes) throw tooLarge(limit)
      if (!request.generates) return readable(() => warmedUp(receiver, request.json))
      const of = {
        incoming,
        callerId: identity.id,
        address: addressOf(incoming),
        isPaid: false,
        isLenient: isLenient(incoming, identity),
        isCacheOff: identity.cache === 'off',
        requestId,
      }
      await ask(request, receiver, callContext(of, request.json))
    } finally {
      buffered.release(receiver)
    }
  }

  return async (request, incoming, callerId) => {
    try {
      await made(request, incoming)
    } catch (error) {
      const { requestId } = request
      if (error instanceof GazewayError) await refused(error, { incoming, path: PATH, requestId, callerId })
      throw error
    }
  }
}

/** Estimates the bytes that JSON takes in memory, as text and parsed. */
const sizeOf = (json: Buffer): number => json.length + structureBytes(json)

/**
 * The conversation that a request continues, if the connection has it.
 *
 * @throws GazewayError `not_found` for one that was not stored either
 */
function conversationOf({ json }: SocketRequest, earlier: EarlierResponse): ReturnType<EarlierResponse['find']> {
  const { previous_response_id: id, store } = json
  if (typeof id !== 'string') return null
  const before = earlier.find(id)
  if (before !== null || store !== false) return before
  throw new GazewayError('not_found', `This connection has no response ${id.slice(0, 200)}. Send the whole input.`, {
    status: 400,
    param: 'previous_response_id',
  })
}
