import { responseEvents } from '../convert/response-events.ts'
import { type Answer, answer } from './answer.ts'
import type { Turn } from './conversation.ts'
import { parseRequest } from './request.ts'
import type { ResponseHistory } from './response-history.ts'
import { responseFrom, type WireResponse } from './response-object.ts'
import { questionFrom, ResponseRequest, turnsFrom } from './response-request.ts'
import { jsonReply, sseFrame, sseReply } from './sandbox-reply.ts'
import { streamPieces } from './tokens.ts'

/**
 * Serves `POST /v1/responses`: a `response` object, or its events in order. Unless `store` is false, it is kept in
 * `history` for `previous_response_id`.
 *
 * @throws GazewayError `invalid_request` naming the field at fault; `not_found` for an unknown `previous_response_id`
 */
export function createResponse(request: Request, body: unknown, seed: string, history: ResponseHistory): Response {
  const asked = parseRequest(ResponseRequest, body)
  const earlier = asked.previous_response_id ? history.recall(asked.previous_response_id) : []
  const turns = [...earlier, ...turnsFrom(asked.input)]
  const answered = answer(questionFrom(asked, turns, seed))
  const response = responseFrom(asked, answered, seed)
  if (asked.store !== false) history.keep(response.id, [...turns, turnOf(answered)])

  if (!asked.stream) return jsonReply(response)
  return sseReply(request, frames(response))
}

function* frames(response: WireResponse): Generator<string> {
  for (const event of responseEvents(response, streamPieces)) yield sseFrame(event, event.type)
}

function turnOf({ text, call }: Answer): Turn {
  return call ? { role: 'call', callId: call.id, tool: call.name } : { role: 'assistant', text }
}
