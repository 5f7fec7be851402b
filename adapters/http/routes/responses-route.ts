import type { Hono } from 'hono'
import * as z from 'zod'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { OWN_RESPONSE } from '../../../src/inference/api/own-response.ts'
import type { OpenCalls } from '../../../src/inference/inference.ts'
import { LIST_LIMIT, parseInput } from '../../../src/wire/validation.ts'
import type { Endpoint } from '../../web/arrival.ts'
import { callerOf, type Frame } from '../../web/frame-context.ts'
import { responsesAsk } from '../continued-ask.ts'
import { modelCall } from './chat-completions-route.ts'

/** Fields that Gazeway acts on; the upstream validates the others. */
const ResponsesRequest = z.looseObject({
  model: z.string().min(1).max(256).nullish(),
  input: z.union([z.string(), z.array(z.looseObject({})).max(LIST_LIMIT)]).nullish(),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  tools: z
    .array(z.looseObject({ type: z.string() }))
    .max(LIST_LIMIT)
    .nullish(),
})

/** Checks the body of a Responses request. @throws GazewayError `validation_failed` */
export const checkResponses = (json: unknown): { stream: boolean } => ({
  stream: parseInput(ResponsesRequest, json).stream === true,
})

/** `POST /v1/responses` */
export const responses = (calls: OpenCalls, gateway: Gateway): Endpoint =>
  modelCall(calls, gateway, { endpoint: '/responses', check: checkResponses, ask: responsesAsk(calls, gateway) })

/** `DELETE /v1/responses/{id}` of a Response that Gazeway keeps; others are their upstream's. */
export function deleteKeptResponse(app: Hono<Frame>, { keptResponses }: Gateway): void {
  app.delete(`/v1/responses/:id{${OWN_RESPONSE}_.+}`, async (c) => {
    const id = c.req.param('id')
    if (await keptResponses.delete(id, callerOf(c).id)) return c.json({ id, object: 'response', deleted: true })
    throw new GazewayError('not_found', `There is no response ${id.slice(0, 200)} that was made with this key.`)
  })
}
