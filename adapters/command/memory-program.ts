import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'

/** Adds `gazeway memory export` and `gazeway memory import`. */
export function addMemoryCommands(program: Command, start: () => Promise<{ loaded: LoadedConfig }>): void {
  const memory = program.command('memory').description('take memories out of the store, or into it')
  memory
    .command('export')
    .description('print memories as JSON Lines: one a line, with everything that storing it takes')
    .option('--namespace <name>', 'only this namespace (default: all)')
    .action(async (flags: { namespace?: string }) => {
      const { loaded } = await start()
      await (await import('./memory-transfer.ts')).exportMemories(loaded, flags)
    })
  memory
    .command('import')
    .description('store the memories of a file of JSON Lines, also of one of @modelcontextprotocol/server-memory')
    .argument('<file>', 'a file of JSON Lines')
    .option('--namespace <name>', 'where memories go that name none (default: default)')
    .action(async (file: string, flags: { namespace?: string }) => {
      const { loaded } = await start()
      await (await import('./memory-transfer.ts')).importMemories(loaded, file, flags)
    })
}
