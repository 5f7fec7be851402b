import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import type { ListFlags, ResumeFlags, SessionFlags } from './session-command.ts'

const EXAMPLES = `
SESSION is the id that the client says, as in "gazeway session list" and in the error of a refused call.

Examples:
  $ gazeway session list --sort cost
  $ gazeway session stop 0199f4c2-c5b2-7a3e-8f0d-4a6b9c1e2d3f
  $ gazeway session resume 0199f4c2-c5b2-7a3e-8f0d-4a6b9c1e2d3f --raise 2`

const SESSION = ['<session>', 'id of the session'] as const
const KEY = ['--key <key>', 'id or name of its key, where several have a session of the id'] as const

/** Adds the commands for the sessions of coding agents. Their code is loaded when one is called. */
export function addSessionCommands(program: Command, start: () => Promise<{ loaded: LoadedConfig; log: Log }>): void {
  const session = program
    .command('session')
    .description('list, show, stop, resume and raise the sessions of coding agents')
    .addHelpText('after', EXAMPLES)
  session
    .command('list')
    .description('list the newest sessions with their cost')
    .option('--limit <n>', 'how many', '20')
    .option('--sort <order>', 'last: the latest first; cost: the dearest first', 'last')
    .option('--json', 'print JSON')
    .action(async (flags: ListFlags) => {
      const { loaded, log } = await start()
      await (await import('./session-command.ts')).listNewest(loaded, log, flags)
    })
  session
    .command('show')
    .description('print all of a session as JSON: calls by kind and model, repository, commits, limits, state')
    .argument(...SESSION)
    .option(...KEY)
    .action(async (id: string, flags: SessionFlags) => {
      const { loaded, log } = await start()
      await (await import('./session-command.ts')).showOne(loaded, log, id, flags)
    })
  session
    .command('stop')
    .description('stop a session: running servers end its calls, streams too, within 5 s')
    .argument(...SESSION)
    .option(...KEY)
    .action(async (id: string, flags: SessionFlags) => {
      const { loaded, log } = await start()
      await (await import('./session-command.ts')).stopOne(loaded, log, id, flags)
    })
  session
    .command('resume')
    .description('let a session go on, with more of its limits')
    .argument(...SESSION)
    .option(...KEY)
    .option('--raise <usd>', 'USD added to its budget')
    .option('--calls <n>', 'calls added to its limit')
    .option('--minutes <n>', 'minutes added to its limit')
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, flags: ResumeFlags) => {
      const { loaded, log } = await start()
      await (await import('./session-command.ts')).resumeOne(loaded, log, id, flags)
    })
}
