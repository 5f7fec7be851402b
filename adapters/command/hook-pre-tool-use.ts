import * as z from 'zod'
import type { LoadedConfig } from '../../src/config/config.ts'
import { answerHook, hookInput } from './hook-input.ts'
import { holdFor } from './review-hold.ts'

/** Claude Code's event before a tool is used, as far as it is read. */
const ToolUse = z.object({
  cwd: z.string(),
  tool_input: z.object({ command: z.string() }).nullable().catch(null),
})

/**
 * Denies a command that the review policy holds, until what it would land was reviewed. A command that is not held gets no
 * answer, which leaves it to the permissions.
 */
export async function answerPreToolUse(loaded: LoadedConfig): Promise<void> {
  const { cwd, tool_input: input } = await hookInput(ToolUse)
  if (input === null) return
  const permissionDecisionReason = await holdFor(input.command, cwd, loaded)
  if (permissionDecisionReason === null) return
  answerHook({
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason },
  })
}
