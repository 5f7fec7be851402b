import { OWN_RESPONSE } from '../../../src/inference/api/own-response.ts'
import type { ResponseRequest } from '../../../src/inference/api/requests.ts'
import { endResponse, responseShell } from '../../../src/inference/convert/chat-to-response.ts'
import { itemId } from '../../../src/inference/convert/response-items.ts'
import { toSse } from '../../../src/inference/passages/upstream-reply.ts'
import type { Receiver } from '../../../src/inference/relay/receiver.ts'
import type { Fields } from '../../../src/text/typed-reader.ts'

/**
 * Answers a request with `generate: false`, which prepares the next one: a Response without output, to be continued. No
 * model is asked, and nothing is charged.
 */
export function warmedUp(receiver: Receiver, request: Fields): void {
  const model = typeof request.model === 'string' ? request.model : ''
  const id = itemId(OWN_RESPONSE)
  const created = responseShell(request as unknown as ResponseRequest, {
    id,
    model,
    createdAt: Math.floor(Date.now() / 1000),
  })
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  const completed = endResponse(created, { model, finishReason: 'stop', usage, serviceTier: null, output: [] })
  const events = [
    { type: 'response.created', sequence_number: 0, response: created },
    { type: 'response.completed', sequence_number: 1, response: completed },
  ]
  receiver.end(toSse(events))
}
