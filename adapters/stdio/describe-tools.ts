import type { Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { tools } from '../../tools/index.ts'

/** The twelve tools with their schemas as JSON Schema draft 7, the dialect that MCP clients validate with. */
export function describeTools(): ListedTool[] {
  return tools.map(({ name, title, description, annotations, input, output }) => ({
    name,
    title,
    description,
    annotations,
    inputSchema: z.toJSONSchema(input, { target: 'draft-7', io: 'input' }) as ListedTool['inputSchema'],
    outputSchema: z.toJSONSchema(output, { target: 'draft-7', io: 'output' }) as ListedTool['outputSchema'],
  }))
}
