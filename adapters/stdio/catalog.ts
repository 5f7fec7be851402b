import type { Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js'

/** The tools as `tools/list` shows them, as JSON; the build writes it in, so that a start need not load the tools. */
declare const GAZEWAY_CATALOG: string | undefined

/** What `tools/list` answers. */
export async function listTools(): Promise<ListedTool[]> {
  if (typeof GAZEWAY_CATALOG === 'string') return JSON.parse(GAZEWAY_CATALOG)
  const { describeTools } = await import('./describe-tools.ts')
  return describeTools()
}
