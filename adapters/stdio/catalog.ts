import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import { lazily } from '../../src/lazily.ts'
import type { ToolChoice } from './tool-choice.ts'

/** Tools as `tools/list` shows them, in JSON. The build inlines them, so that a start does not load the tools. */
declare const GAZEWAY_CATALOG: string | undefined

/** The build needs it no more. */
const loadDescription = lazily(() => import('./describe-tools.ts'))

/** Lists the offered tools for `tools/list`. */
export async function listTools({ has }: ToolChoice): Promise<ListedTool[]> {
  const all = await everyTool()
  return all.filter(({ name }) => has(name))
}

async function everyTool(): Promise<ListedTool[]> {
  if (typeof GAZEWAY_CATALOG === 'string') return JSON.parse(GAZEWAY_CATALOG)
  const { describeTools } = await loadDescription()
  return describeTools()
}
