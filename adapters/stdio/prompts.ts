import type { GetPromptResult, InputRequiredResult, McpServer, ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Gateway } from '../../src/gateway.ts'
import { proposalNote } from '../../src/projects/proposal.ts'
import type { RequestRoots } from './carried-roots.ts'
import { workingFolder } from './working-folder.ts'

/** Tokens of work context at the start of a session. */
const CONTEXT_TOKENS = 6000

/**
 * Registers a prompt that starts a session where the last one ended.
 *
 * @param rootsOf returns the client's roots for one request
 */
export function registerPrompts(
  mcp: McpServer,
  gateway: () => Promise<Gateway>,
  rootsOf: (request: ServerContext['mcpReq']) => RequestRoots,
): void {
  mcp.registerPrompt(
    'start_session',
    {
      title: 'Start where I left off',
      description: 'Begins a session with the work context of this project and the memories that fit the task',
      argsSchema: { task: z.string().max(2000).optional().describe('What you are about to work on') },
    },
    async ({ task }, { mcpReq }): Promise<GetPromptResult | InputRequiredResult> => {
      const { roots, missing } = rootsOf(mcpReq)
      const declared = await roots().catch(() => [])
      const incomplete = missing()
      if (incomplete) return incomplete
      const { context, projects } = await gateway()
      const input = { max_tokens: CONTEXT_TOKENS, ...(task ? { query: task.slice(0, 1000) } : {}) }
      const { text } = await context.text(input, declared)
      const folder = declared[0] ?? workingFolder()
      const note = folder === null ? null : await proposalNote(projects, folder)
      const opening = task
        ? `I am about to work on this: ${task}\n\nHere is what I have been looking at, and what is remembered.`
        : 'Here is what I have been looking at, and what is remembered. Tell me in a few lines where I left off.'
      return {
        messages: [
          {
            role: 'user',
            content: { type: 'text', text: [opening, ...(note === null ? [] : [note]), text].join('\n\n') },
          },
        ],
      }
    },
  )
  // The list does not change while the server runs.
  mcp.server.registerCapabilities({ prompts: { listChanged: false } })
}
