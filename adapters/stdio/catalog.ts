import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import type { ToolChoice } from './tool-choice.ts'

/** The tools as `tools/list` shows them, as JSON; the build writes it in, so that a start need not load the tools. */
declare const GAZEWAY_CATALOG: string | undefined

/** The offered tools, as `tools/list` answers them. */
export async function listTools({ has }: ToolChoice): Promise<ListedTool[]> {
  const all = await everyTool()
  return all.filter(({ name }) => has(name))
}

async function everyTool(): Promise<ListedTool[]> {
  if (typeof GAZEWAY_CATALOG === 'string') return JSON.parse(GAZEWAY_CATALOG)
  const { describeTools } = await import('./describe-tools.ts')
  return describeTools()
}
