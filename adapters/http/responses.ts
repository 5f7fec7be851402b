import { z } from 'zod'
import type { Relay } from '../../src/upstream/relay/relay.ts'
import { relayResponses } from '../../src/upstream/relay/relay-responses.ts'
import { parseInput } from '../../src/validation.ts'
import type { FrameContext } from '../web/frame.ts'
import { readJson } from '../web/json-body.ts'
import { ALREADY_SENT, receiverOf } from '../web/receiver.ts'
import { callContext } from './chat-completions.ts'

/** As much of the request as Gazeway acts on; everything else is for the upstream to judge. */
const ResponsesRequest = z.looseObject({
  model: z.string().min(1).max(256).optional(),
  input: z.union([z.string(), z.array(z.looseObject({}))]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
})

/** `POST /v1/responses` */
export function responses(relay: Relay, maxBodyBytes: number) {
  return async (c: FrameContext): Promise<Response> => {
    const { json } = await readJson(c.env.incoming, maxBodyBytes)
    parseInput(ResponsesRequest, json)
    await relayResponses(relay, json as never, receiverOf(c), callContext(c))
    return ALREADY_SENT
  }
}
