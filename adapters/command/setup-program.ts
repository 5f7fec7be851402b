import type { Command } from 'commander'
import { ASSISTANT_NAMES } from '../../src/assistants/assistants.ts'
import type { SetupFlags } from './setup-command.ts'

const CLIENTS = `assistants: ${ASSISTANT_NAMES.join(', ')}`

const SETUP_EXAMPLES = `
The entry contains the names of environment variables, never their values: export the variables before you start the
assistant. By default, the entry names the provider keys and the GAZEWAY_ variables that are set now. Each file keeps its
comments and order, and a backup is written beside it.

Examples:
  $ gazeway setup                                    configure all installed assistants
  $ gazeway setup --print                            preview the changes
  $ gazeway setup claude-code --scope project        share the entry with the project in this folder
  $ gazeway setup codex --env OPENAI_API_KEY --env GAZEWAY_UPSTREAM`

const REMOVE_EXAMPLES = `
Examples:
  $ gazeway remove                                   remove every entry
  $ gazeway remove cursor --scope project`

const SCOPE = ['--scope <scope>', 'user (all your projects) or project (this folder)', 'user'] as const

const collect = (value: string, before: readonly string[] = []): string[] => [...before, value]

/** Adds the commands that write and remove Gazeway's entry in assistants' files. */
export function addSetupCommands(program: Command): void {
  program
    .command('setup')
    .description('add Gazeway to the configuration of your coding assistants')
    .argument('[client...]', `${CLIENTS} (default: all that are installed)`)
    .option(...SCOPE)
    .option('--env <name>', 'environment variable to pass to the server; repeatable', collect)
    .option('--print', 'print the changes without writing them (dry run)')
    .option('--yes', 'write without asking')
    .addHelpText('after', SETUP_EXAMPLES)
    .action(async (clients: string[], flags: SetupFlags) => {
      await (await import('./setup-command.ts')).setUp(clients, flags)
    })
  program
    .command('remove')
    .description('remove Gazeway from the configuration of your coding assistants')
    .argument('[client...]', `${CLIENTS} (default: all that have the entry)`)
    .option(...SCOPE)
    .option('--print', 'print the changes without writing them (dry run)')
    .option('--yes', 'write without asking')
    .addHelpText('after', REMOVE_EXAMPLES)
    .action(async (clients: string[], flags: SetupFlags) => {
      await (await import('./setup-command.ts')).removeEntries(clients, flags)
    })
}
