import { type Command, Option } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { HOOKED_AGENTS, type HookedAgent } from './hooked-agents.ts'

/** Time limit of a hook in milliseconds, below the one that Claude Code has: after that one a held command would run. */
const LIMIT_MS = 10_000

const agentOption = () =>
  new Option('--agent <agent>', 'agent that runs the hook').choices(HOOKED_AGENTS).default('claude-code')

/** Adds the commands that the hooks of the Claude Code plugin call (`plugin/hooks/hooks.json`). */
export function addHookCommands(program: Command, start: () => Promise<{ loaded: LoadedConfig; log: Log }>): void {
  const hook = program.command('hook').description('handle hooks of coding agents and git; called by them')
  hook
    .command('session-start')
    .description('print the memories of the project as context for a new session')
    .addOption(agentOption())
    .action(({ agent }: { agent: HookedAgent }) =>
      inTime(async () => {
        const { loaded, log } = await start()
        await (await import('./hook-session-start.ts')).answerSessionStart(loaded, log, agent)
      }),
    )
  hook
    .command('stop')
    .description('ask, once in a session that changed files, to store what later sessions need')
    .addOption(agentOption())
    .action(({ agent }: { agent: HookedAgent }) =>
      inTime(async () => {
        const { loaded, log } = await start()
        await (await import('./hook-stop.ts')).answerStop(loaded, log, agent)
      }),
    )
  hook
    .command('pre-tool-use')
    .description('deny a command that the review policy holds, until its change was reviewed; a reminder, not a gate')
    .action(() =>
      inTime(async () => {
        const { loaded } = await start()
        await (await import('./hook-pre-tool-use.ts')).answerPreToolUse(loaded)
      }),
    )
  hook
    .command('post-commit')
    .description('note the commit that git has just made for the session that made it')
    .action(() =>
      inTime(async () => {
        const { loaded, log } = await start()
        await (await import('./hook-post-commit.ts')).answerPostCommit(loaded, log, process.cwd())
      }),
    )
  hook
    .command('install')
    .description('have git note each commit of this repository for the session that made it')
    .action(async () => (await import('./hook-install.ts')).installHooks())
}

/**
 * Runs a hook within its time limit. The process exits afterwards, whatever still waits.
 *
 * @throws GazewayError `request_timeout` when it has not ended by then
 */
async function inTime(hook: () => Promise<void>): Promise<void> {
  const limit = new Promise<never>((_, reject) => {
    const late = new GazewayError('request_timeout', `The hook did not end within ${LIMIT_MS / 1000} s.`)
    setTimeout(() => reject(late), LIMIT_MS)
  })
  await Promise.race([hook(), limit])
}
