import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'
import { GazewayError } from '../../src/errors.ts'
import type { MemoryFlags } from './memory-admin.ts'

/** Adds `gazeway memory` with its commands. */
export function addMemoryCommands(program: Command, start: () => Promise<{ loaded: LoadedConfig }>): void {
  const memory = program
    .command('memory')
    .description('list, search, show, edit, move, delete, export and import memories')
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
  addAdminCommands(memory, start)
}

/** Adds the commands that read and change single memories of the project of this folder, or of none. */
function addAdminCommands(memory: Command, start: () => Promise<{ loaded: LoadedConfig }>): void {
  const load = () => import('./memory-admin.ts')
  const add = (usage: string, description: string) =>
    memory
      .command(usage)
      .description(description)
      .option('--namespace <name>', 'namespace of the memory (default: default, or all for lists)')
      .option(
        '--project <folder>',
        'project, by its folder or name; none: memories of no project (default: this folder)',
      )
  add('list', 'list the newest memories').action(async (flags: MemoryFlags) =>
    (await load()).listMemories((await start()).loaded, flags),
  )
  add('search <words>', 'search memories, best match first').action(async (words: string, flags: MemoryFlags) =>
    (await load()).listMemories((await start()).loaded, flags, words),
  )
  add('show <key>', 'print a memory as JSON').action(async (key: string, flags: MemoryFlags) =>
    (await load()).showMemory((await start()).loaded, key, flags),
  )
  add('edit <key> <text>', 'store a text as the next version of a memory').action(
    async (key: string, text: string, flags: MemoryFlags) =>
      (await load()).editMemory((await start()).loaded, key, text, flags),
  )
  add('move <key>', 'move a memory to another project')
    .requiredOption('--to <folder>', 'project to move it to, by its folder or name; none: no project')
    .action(async (key: string, flags: MemoryFlags & { to: string }) =>
      (await load()).moveMemory((await start()).loaded, key, flags),
    )
  add('delete [key]', 'delete a memory with all its versions, or all memories with a tag')
    .option('--tag <tag>', 'delete the memories with this tag, instead of one by its key')
    .action(async (key: string | undefined, { tag, ...flags }: MemoryFlags & { tag?: string }) => {
      const { deleteMemory, deleteTagged } = await load()
      const { loaded } = await start()
      if (tag !== undefined && key === undefined) return deleteTagged(loaded, tag, flags)
      if (key !== undefined && tag === undefined) return deleteMemory(loaded, key, flags)
      throw new GazewayError('validation_failed', 'Give a key, or --tag and no key.', { param: '--tag' })
    })
}
