import type { IncomingMessage } from 'node:http'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { ModelBody } from '../../../src/inference/admit/admit.ts'
import type { OpenCalls } from '../../../src/inference/inference.ts'
import { structureBytes } from '../../../src/text/json-structure.ts'
import { isLenient } from '../../web/arrival.ts'
import { modelBodyLimit, tooLarge } from '../../web/body-limit.ts'
import { addressOf } from '../../web/client-address.ts'
import type { OnRefused } from '../../web/refused-calls.ts'
import { responsesAsk } from '../continued-ask.ts'
import { callContext } from '../routes/chat-completions-route.ts'
import { checkResponses } from '../routes/responses-route.ts'
import { PATH, type SocketCallers } from './socket-callers.ts'
import type { TurnRequest } from './socket-turns.ts'

/** Makes a request of a connection, as one over HTTP. @throws GazewayError before its first event */
export type SocketAsk = (request: TurnRequest, incoming: IncomingMessage, callerId: string) => Promise<void>

/** @param deps.refused called with each error, for the record of a refused call */
export function createSocketAsk(
  gateway: Gateway,
  deps: { calls: OpenCalls; callers: SocketCallers; refused: OnRefused },
): SocketAsk {
  const { calls, callers, refused } = deps
  const ask = responsesAsk(calls, gateway)

  async function made({ body, requestId, receiver }: TurnRequest, incoming: IncomingMessage): Promise<void> {
    const identity = await callers.authenticate(incoming)
    checkResponses(body)
    const limit = modelBodyLimit(gateway, identity.id)
    const text = JSON.stringify(body)
    const bytes = Buffer.from(text)
    if (bytes.length > limit.bytes) throw tooLarge(limit)
    const of = {
      incoming,
      callerId: identity.id,
      address: addressOf(incoming),
      isPaid: false,
      isLenient: isLenient(incoming, identity),
      isCacheOff: identity.cache === 'off',
      requestId,
    }
    const json = body as ModelBody
    gateway.buffered.take({ request: receiver, callerId: identity.id }, bytes.length + structureBytes(bytes))
    try {
      await ask({ bytes, text, json }, receiver, callContext(of, json))
    } finally {
      gateway.buffered.release(receiver)
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
