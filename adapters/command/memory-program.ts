import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'

/** Adds `gazeway memory export` and `gazeway memory import`. */
export function addMemoryCommands(program: Command, start: () => Promise<{ loaded: LoadedConfig }>): void {
  const memory = program.command('memory').description('export and import memories')
  memory
    .command('export')
    .description('print memories as JSON Lines, ready for `gazeway memory import`')
    .option('--namespace <name>', 'namespace to export (default: all)')
    .action(async (flags: { namespace?: string }) => {
      const { loaded } = await start()
      await (await import('./memory-transfer.ts')).exportMemories(loaded, flags)
    })
  memory
    .command('import')
    .description('import memories from JSON Lines, also those of @modelcontextprotocol/server-memory')
    .argument('<file>', 'JSON Lines file')
    .option('--namespace <name>', 'namespace of memories that name none (default: default)')
    .action(async (file: string, flags: { namespace?: string }) => {
      const { loaded } = await start()
      await (await import('./memory-transfer.ts')).importMemories(loaded, file, flags)
    })
}
