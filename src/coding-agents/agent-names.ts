/**
 * Agents that can be connected, in display order, by their names on the command line. Apart from `coding-agents.ts`: each
 * start of the command reads them for its help, and needs no parser of their files.
 */
export const CODING_AGENT_NAMES = ['claude-code', 'codex', 'opencode', 'qwen-code', 'gemini-cli'] as const
export type CodingAgentName = (typeof CODING_AGENT_NAMES)[number]
