import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { tools } from '../../tools/index.ts'
import { leanInput, leanOutput } from './lean-schema.ts'

/**
 * The twelve tools as they are listed. A model reads all of it before its first word, so the schemas are cut down to what
 * it needs to write a call and to read a result; what else holds of an argument is checked when a tool is called.
 */
export function describeTools(): ListedTool[] {
  return tools.map(({ name, title, description, annotations, input, output }) => ({
    name,
    title,
    description,
    annotations,
    inputSchema: leanInput(z.toJSONSchema(input, { io: 'input' })) as ListedTool['inputSchema'],
    outputSchema: leanOutput(z.toJSONSchema(output, { io: 'output' })) as ListedTool['outputSchema'],
  }))
}
