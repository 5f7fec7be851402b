import * as z from 'zod'
import { lazySchema, section } from './section.ts'

/** The twelve tools by group, as `--tools` names them. */
export const TOOL_GROUPS = {
  model: ['gateway_llm_query', 'gateway_chat_completion'],
  context: ['gateway_get_context'],
  gaze: ['gateway_store_gaze_data', 'gateway_retrieve_gaze_data', 'gateway_analyze_gaze_pattern'],
  memory: ['gateway_memory_store', 'gateway_memory_recall', 'gateway_memory_search'],
  audit: ['gateway_upstream_api_history', 'gateway_upstream_api_stats'],
  upstream: ['gateway_gateway'],
} as const
export type ToolGroup = keyof typeof TOOL_GROUPS
export type ToolName = (typeof TOOL_GROUPS)[ToolGroup][number]

const GROUPS = Object.keys(TOOL_GROUPS) as ToolGroup[]
const NAMES: readonly ToolName[] = Object.values(TOOL_GROUPS).flat()

const choice = lazySchema(() =>
  z
    .array(
      z
        .enum([...GROUPS, ...NAMES])
        .meta({ accepted: `one of the groups ${GROUPS.join(', ')}, or one of the tools ${NAMES.join(', ')}` }),
    )
    .max(50)
    .default([]),
)

/** Tools that the MCP server offers. Chosen at its start, from flags and config.json. */
export const mcpSection = section(() => ({
  tools: choice().meta({
    flag: '--tools',
    restart: true,
    description: `Tools and groups of tools (${GROUPS.join(', ')}) to offer; empty: all twelve.`,
  }),
  exclude_tools: choice().meta({
    flag: '--exclude-tools',
    restart: true,
    description: 'Tools and groups of tools not to offer.',
  }),
  read_only: z.boolean().default(false).meta({
    flag: '--read-only',
    restart: true,
    description: 'Offer only tools that neither write nor spend.',
  }),
}))
