import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'

/** Adds the command that the tool server starts for a task of a client (`adapters/stdio/tasks/`). */
export function addTaskCommand(program: Command, start: () => Promise<{ loaded: LoadedConfig; log: Log }>): void {
  program
    .command('mcp-task', { hidden: true })
    .argument('<id>', 'id of the task')
    .action(async (id: string) => {
      const { loaded, log } = await start()
      await (await import('../stdio/tasks/run-task.ts')).runTask(loaded, log, id)
    })
}
