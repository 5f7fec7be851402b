import { DirectReply, DirectRequest } from '../src/inference/verbatim/direct-call.ts'
import { defineTool } from './tool.ts'

export const upstreamGateway = defineTool({
  name: 'gateway_gateway',
  title: 'Call the upstream API',
  description:
    "Call the model provider's own API, for requests without a tool: list models, make embeddings, look up or delete " +
    'a stored response. Only listed paths; not for chats or questions. Example: method "GET", path "/models".',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  isLarge: true,
  input: DirectRequest,
  output: DirectReply,
  run: (gateway, input, context) => gateway.upstream.directCall(input, context),
  render: ({ status, body, truncated }) =>
    `${status}\n${typeof body === 'string' ? body : JSON.stringify(body, null, 2)}${truncated ? '\n(cut off)' : ''}`,
})
