import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'

/** Adds what the hooks of the Claude Code plugin (`plugin/hooks/hooks.json`) call. */
export function addHookCommands(program: Command, start: () => Promise<{ loaded: LoadedConfig }>): void {
  const hook = program.command('hook').description('answer a hook of Claude Code; the plugin calls it')
  hook
    .command('session-start')
    .description('recall what is remembered about the project, as context of the session that begins')
    .action(async () => {
      const { loaded } = await start()
      await (await import('./hook-session-start.ts')).answerSessionStart(loaded)
    })
  hook
    .command('stop')
    .description('offer, once in a session that changed files, to store what a later one needs')
    .action(async () => {
      await (await import('./hook-stop.ts')).answerStop()
    })
}
