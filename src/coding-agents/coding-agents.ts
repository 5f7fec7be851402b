import { CODING_AGENT_NAMES, type CodingAgentName } from './agent-names.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import type { CodingAgent } from './coding-agent.ts'
import { geminiCli } from './gemini-cli.ts'
import { opencode } from './opencode.ts'
import { qwenCode } from './qwen-code.ts'

const BY_NAME: Readonly<Record<CodingAgentName, CodingAgent>> = {
  'claude-code': claudeCode,
  codex,
  opencode,
  'qwen-code': qwenCode,
  'gemini-cli': geminiCli,
}

/** Agents that can be connected, in display order. */
export const CODING_AGENTS: readonly CodingAgent[] = CODING_AGENT_NAMES.map((name) => BY_NAME[name])
