import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { tools } from '../../tools/index.ts'
import { leanInput, leanOutput } from './lean-schema.ts'
import { MAX_CHARACTERS } from './reply-limits.ts'

/**
 * Describes the twelve tools for `tools/list`. A model reads all of it before its first word. The schemas therefore
 * keep only what a model needs to write a call and to read a result. Other constraints are checked when a tool is
 * called.
 */
export function describeTools(): ListedTool[] {
  return tools.map(({ name, title, description, annotations, isLarge, input, output, listed = output }) => ({
    name,
    title,
    description,
    annotations,
    inputSchema: leanInput(z.toJSONSchema(input, { io: 'input' })) as ListedTool['inputSchema'],
    outputSchema: leanOutput(z.toJSONSchema(listed, { io: 'output' })) as ListedTool['outputSchema'],
    ...(isLarge && { _meta: { 'anthropic/maxResultSizeChars': MAX_CHARACTERS } }),
  }))
}
