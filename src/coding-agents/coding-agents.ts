import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import type { CodingAgent } from './coding-agent.ts'
import { geminiCli } from './gemini-cli.ts'
import { opencode } from './opencode.ts'
import { qwenCode } from './qwen-code.ts'

/** Agents that can be connected, in display order. */
export const CODING_AGENTS: readonly CodingAgent[] = [claudeCode, codex, opencode, qwenCode, geminiCli]

/** Their names on the command line. */
export const CODING_AGENT_NAMES: readonly string[] = CODING_AGENTS.map(({ name }) => name)
