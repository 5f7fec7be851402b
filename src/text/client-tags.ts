/**
 * Patterns of the tags that clients put around text of their own: reminders, hooks, commands and their output,
 * instructions and context.
 *
 * - Claude Code: `system-reminder`, `command-name`, `local-command-stdout`, `user-prompt-submit-hook`, `task-notification`
 * - Codex: `environment_context`, `user_instructions`, `permissions instructions`, `INSTRUCTIONS`, `turn_aborted`
 * - Gemini CLI and Cursor: `session_context`, `hook_context`, `additional_data`
 */
export const FRAMING_TAGS = [
  'system[-_ ]?reminder',
  '(?:(?:local[-_])?command|bash)[-_](?:name|message|args|contents|input|stdout|stderr|caveat)',
  '[a-z]{1,32}(?:[-_][a-z]{1,32}){0,4}[-_](?:hook|reminder|notification|instructions?|context)',
  '(?:[a-z]{1,32} )?instructions?',
  '(?:additional[-_]data|attached[-_]files|turn[-_]aborted|collaboration[-_]mode|persisted[-_]output)',
].join('|')

/** Patterns of all tags that clients and models treat as their own: also those of roles, tool calls and results. */
export const CLIENT_TAGS = [
  FRAMING_TAGS,
  'system(?:[-_ ]?(?:prompt|message|warning|info))?',
  'user[-_](?:query|input|message|memory[-_]input|shell[-_]command|action)',
  '(?:antml:)?(?:function[-_](?:calls?|results?)|tool[-_](?:use[-_]error|calls?|results?|use)|invoke|thinking)',
].join('|')
