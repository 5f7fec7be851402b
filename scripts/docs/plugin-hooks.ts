import { json } from './manifests.ts'

/** Time that Claude Code gives to a hook, in seconds: more than `gazeway hook` takes for itself. */
const TIMEOUT_SECONDS = 30

/**
 * The hooks of the Claude Code plugin.
 *
 * A command that is held runs after any other exit code than 2, a missing program's as well: `holds` turns all of them into 2.
 */
const HOOKS = [
  { event: 'SessionStart', does: 'session-start', matcher: 'startup|clear|compact' },
  { event: 'PreToolUse', does: 'pre-tool-use', matcher: 'Bash', holds: true },
  { event: 'Stop', does: 'stop' },
] as const satisfies readonly { event: string; does: string; matcher?: string; holds?: true }[]

/** `plugin/hooks/hooks.json`: what the Claude Code plugin runs, and when. */
export function pluginHooks(): string {
  const entries = HOOKS.map(({ event, does, ...more }) => {
    const command = `node "\${CLAUDE_PLUGIN_ROOT}/gazeway.mjs" hook ${does}${'holds' in more ? ' || exit 2' : ''}`
    const matcher = 'matcher' in more && { matcher: more.matcher }
    return [event, [{ ...matcher, hooks: [{ type: 'command', command, timeout: TIMEOUT_SECONDS }] }]]
  })
  const description =
    'Recalls what is remembered about the project at a session’s start, offers to store what was learned, and holds commands that a review policy names.'
  return json({ description, hooks: Object.fromEntries(entries) })
}
