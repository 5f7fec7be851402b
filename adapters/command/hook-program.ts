import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'

/** Adds the commands that the hooks of the Claude Code plugin call (`plugin/hooks/hooks.json`). */
export function addHookCommands(program: Command, start: () => Promise<{ loaded: LoadedConfig; log: Log }>): void {
  const hook = program.command('hook').description('handle Claude Code hooks; called by the plugin')
  hook
    .command('session-start')
    .description('print the memories of the project as context for a new session')
    .action(async () => {
      const { loaded, log } = await start()
      await (await import('./hook-session-start.ts')).answerSessionStart(loaded, log)
    })
  hook
    .command('stop')
    .description('suggest, once in a session that changed files, to store what later sessions need')
    .action(async () => {
      await (await import('./hook-stop.ts')).answerStop()
    })
}
