import { CallToolRequestParamsSchema, CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

/** `tools/call` as clients send it: some write `"arguments": null` for a tool that needs none. */
export const CallToolRequest = CallToolRequestSchema.extend({
  params: CallToolRequestParamsSchema.extend({
    arguments: z
      .record(z.string(), z.unknown())
      .nullish()
      .transform((given) => given ?? undefined),
  }),
})
