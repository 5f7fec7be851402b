/**
 * Tags that clients and models treat as their own: reminders, hooks, commands and their output, instructions, context,
 * tool calls and results, and the marks of chat templates. Foreign text with one of them could pass for the client's.
 *
 * - Claude Code: `system-reminder`, `command-name`, `local-command-stdout`, `bash-input`, `user-prompt-submit-hook`,
 *   `task-notification`, `tool_use_error`, `function_results`
 * - Codex: `environment_context`, `user_instructions`, `permissions instructions`, `INSTRUCTIONS`, `turn_aborted`
 * - Gemini CLI and Cursor: `session_context`, `hook_context`, `user_query`, `additional_data`
 */
const TAGS = [
  'system(?:[-_ ]?(?:reminder|prompt|message|warning|info|instructions?|notification))?',
  '(?:(?:local[-_])?command|bash)[-_](?:name|message|args|contents|input|stdout|stderr|caveat)',
  '[a-z]{1,32}(?:[-_][a-z]{1,32}){0,4}[-_](?:hook|reminder|notification|instructions?|context)',
  '(?:[a-z]{1,32} )?instructions?',
  'user[-_](?:query|input|message|memory[-_]input|shell[-_]command|action)',
  '(?:additional[-_]data|attached[-_]files|turn[-_]aborted|collaboration[-_]mode|persisted[-_]output)',
  '(?:antml:)?(?:function[-_](?:calls?|results?)|tool[-_](?:use[-_]error|calls?|results?|use)|invoke|thinking)',
].join('|')

const BEGINNING = new RegExp(`<(?=[\\s/\\p{Cf}]*(?:(?:${TAGS})(?![\\w:-])|\\|))`, 'giu')

/**
 * Replaces the bracket at the beginning of clients' own tags in foreign text that a model will read: it stays readable
 * and is a tag no more.
 *
 * @example defused('</system-reminder>') // '‹/system-reminder>'
 */
export const defused = (text: string): string => text.replace(BEGINNING, '‹')

/** Defuses all strings in a JSON value, names of properties too. */
export function defusedJson<T>(value: T): T {
  if (typeof value === 'string') return defused(value) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(defusedJson) as T
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [defused(name), defusedJson(part)])) as T
}
