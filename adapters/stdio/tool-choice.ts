import type { Config } from '../../src/config/config-schema.ts'
import { TOOL_GROUPS, type ToolGroup, type ToolName } from '../../src/config/sections/mcp-section.ts'
import { GazewayError } from '../../src/errors.ts'

/** Tools that write nothing and spend nothing. */
const READ_ONLY: ReadonlySet<ToolName> = new Set([
  'gateway_get_context',
  'gateway_retrieve_gaze_data',
  'gateway_upstream_api_history',
  'gateway_upstream_api_stats',
  'gateway_memory_recall',
  'gateway_memory_search',
])

/** Selection of the twelve tools. */
export interface ToolChoice {
  has(name: string): boolean
  /** Tells whether a tool of the group is offered. Its resources and prompts are offered with it. */
  hasGroup(group: ToolGroup): boolean
}

/**
 * Selects the tools that the configuration offers.
 *
 * @throws GazewayError `config_invalid` when it excludes all tools
 */
export function toolChoice({ tools, exclude_tools, read_only }: Config['mcp']): ToolChoice {
  const included = tools.length === 0 ? Object.values(TOOL_GROUPS).flat() : namesIn(tools)
  const excluded = new Set<string>(namesIn(exclude_tools))
  const offered = new Set<string>(included.filter((name) => !excluded.has(name) && (!read_only || READ_ONLY.has(name))))
  if (offered.size === 0)
    throw new GazewayError(
      'config_invalid',
      '--tools, --exclude-tools and --read-only (mcp.tools, mcp.exclude_tools, mcp.read_only) exclude every tool. Allow at least one.',
      { param: '--tools' },
    )
  return {
    has: (name) => offered.has(name),
    hasGroup: (group) => TOOL_GROUPS[group].some((name) => offered.has(name)),
  }
}

const namesIn = (chosen: readonly (ToolGroup | ToolName)[]): ToolName[] =>
  chosen.flatMap((one): readonly ToolName[] => (isGroup(one) ? TOOL_GROUPS[one] : [one]))

const isGroup = (name: string): name is ToolGroup => Object.hasOwn(TOOL_GROUPS, name)
