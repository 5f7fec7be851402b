import { PassthroughReply, PassthroughRequest } from '../src/inference/passthrough.ts'
import { defineTool } from './tool.ts'

export const upstreamGateway = defineTool({
  name: 'gateway_gateway',
  title: 'Call the upstream API',
  description:
    "One request to the model provider's own API with the gateway's key, for what has no tool of its own: list " +
    'models, make embeddings, look up or delete a stored response. Only listed paths below the base URL; the reply ' +
    'comes back with its status, whatever it is. Example: method "GET", path "/models".',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  input: PassthroughRequest,
  output: PassthroughReply,
  run: (gateway, input, context) => gateway.upstream.passThrough(input, context),
  render: ({ status, body, truncated }) =>
    `${status}\n${typeof body === 'string' ? body : JSON.stringify(body, null, 2)}${truncated ? '\n(cut off)' : ''}`,
})
