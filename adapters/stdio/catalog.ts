import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import type { ToolChoice } from './tool-choice.ts'

/** Tools as `tools/list` shows them, in JSON. The build inlines them, so that a start does not load the tools. */
declare const GAZEWAY_CATALOG: string | undefined

/** Lists the offered tools for `tools/list`. */
export async function listTools({ has }: ToolChoice): Promise<ListedTool[]> {
  const all = await everyTool()
  return all.filter(({ name }) => has(name))
}

async function everyTool(): Promise<ListedTool[]> {
  if (typeof GAZEWAY_CATALOG === 'string') return JSON.parse(GAZEWAY_CATALOG)
  const { describeTools } = await import('./describe-tools.ts')
  return describeTools()
}
