import { endUser, field, header, saidBy, sessionOfUser, trace, type Word } from './session-words.ts'
import { turnMember } from './turn-metadata.ts'

/** A client that is known by its requests, and where it says its session. The first word that is said counts. */
export interface SessionClient {
  /** Name in records. */
  name: string
  /** Beginnings of its User-Agent. */
  agents: readonly string[]
  /** Words that it alone sends. */
  marks?: readonly Word[]
  /** Empty for a client that says none. */
  session: readonly Word[]
  thread?: readonly Word[]
  parent?: readonly Word[]
  turn?: readonly Word[]
  kind?: readonly Word[]
}

/**
 * Known clients, a row each. Facts are of their public sources and of recorded requests, November 2026:
 *
 * - Claude Code 2.1: `x-claude-code-*`, and `metadata.user_id` as JSON; subagents send `x-claude-code-agent-id`.
 * - Codex 0.171 (`codex-rs/core/src/client.rs`): a subagent has its root's `session-id` and its own `thread-id`. On
 *   its socket `client_metadata` has the turn.
 * - opencode (`packages/opencode/src/session/llm/request.ts`): a subagent has a session of its own, with its parent.
 * - qwen-code (`openaiContentGenerator/provider/dashscope.ts`, `default.ts`): `metadata` of chat completions, for
 *   DashScope or where `includeMetadata` is set.
 * - Cline (`src/core/api/providers/cline.ts`, `litellm.ts`): a task, with its own provider and with LiteLLM.
 * - Gemini CLI and Aider say no session.
 */
export const SESSION_CLIENTS: readonly SessionClient[] = [
  {
    name: 'claude-code',
    agents: ['claude-cli/', 'claude-code/'],
    marks: [header('x-claude-code-session-id')],
    session: [header('x-claude-code-session-id'), sessionOfUser],
    thread: [header('x-claude-code-agent-id')],
    parent: [header('x-claude-code-parent-agent-id')],
    kind: [saidBy(header('x-claude-code-agent-id'), 'subagent')],
  },
  {
    name: 'codex',
    agents: ['codex_', 'codex-', 'codex/'],
    marks: [turnMember('session_id')],
    session: [
      header('session-id'),
      header('session_id'),
      turnMember('session_id'),
      header('thread-id'),
      field('prompt_cache_key'),
    ],
    thread: [header('thread-id'), turnMember('thread_id')],
    parent: [header('x-codex-parent-thread-id')],
    turn: [turnMember('turn_id')],
    kind: [header('x-openai-subagent'), turnMember('request_kind')],
  },
  {
    name: 'opencode',
    agents: ['opencode/'],
    marks: [header('x-opencode-session')],
    session: [header('x-session-id'), header('x-session-affinity'), header('x-opencode-session')],
    parent: [header('x-parent-session-id')],
    turn: [header('x-opencode-request')],
    kind: [saidBy(header('x-parent-session-id'), 'subagent')],
  },
  {
    name: 'qwen-code',
    agents: ['QwenCode/'],
    session: [field('metadata', 'sessionId'), sessionOfUser],
    turn: [field('metadata', 'promptId')],
  },
  {
    name: 'cline',
    agents: ['Cline/'],
    session: [header('x-task-id'), field('litellm_session_id')],
  },
  { name: 'gemini-cli', agents: ['GeminiCLI/'], session: [] },
]

/** Words of any client, the surest first. Our own header comes before names that mean a session by custom alone. */
export const SHARED_SESSION: readonly Word[] = [
  header('x-gazeway-session'),
  header('x-session-id'),
  header('session-id'),
  header('session_id'),
  header('x-session-affinity'),
  header('x-grok-conv-id'),
  field('prompt_cache_key'),
  field('litellm_session_id'),
  field('metadata', 'session_id'),
  field('metadata', 'sessionId'),
  sessionOfUser,
  endUser,
  trace,
]
