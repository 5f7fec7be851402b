import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import type { ForgetFlags } from './forget.ts'

/** Adds `gazeway forget`. */
export function addForgetCommand(program: Command, start: () => Promise<{ loaded: LoadedConfig; log: Log }>): void {
  program
    .command('forget')
    .description(
      'revoke a key and erase what was written with it: chats, memories, contents of calls, gaze, texts of tasks',
    )
    .option('--key <key>', 'id or name of the key')
    .option('--user <id>', 'id of a caller as in chats and receipts: of a key, or the address of a wallet')
    .action(async (flags: ForgetFlags) => {
      const { loaded, log } = await start()
      await (await import('./forget.ts')).forget(loaded, log, flags)
    })
}
