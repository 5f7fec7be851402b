import type { Command } from 'commander'
import { ASSISTANT_NAMES } from '../../src/assistants/assistants.ts'
import type { SetupFlags } from './setup-command.ts'

const CLIENTS = `assistants: ${ASSISTANT_NAMES.join(', ')}`

const SETUP_EXAMPLES = `
The entry names variables of your environment and holds no key: export the key before the assistant starts. By default it
names the provider keys and the settings of Gazeway that are set now. A file keeps its comments and its order, and a copy of it
as it was stays beside it.

Examples:
  $ gazeway setup                                    connect the assistants that are installed
  $ gazeway setup --print                            see what would change
  $ gazeway setup claude-code --scope project        for everyone who works on the project in this folder
  $ gazeway setup codex --env OPENAI_API_KEY --env GAZEWAY_UPSTREAM`

const REMOVE_EXAMPLES = `
Examples:
  $ gazeway remove                                   wherever the entry is
  $ gazeway remove cursor --scope project`

const SCOPE = [
  '--scope <scope>',
  'user, for all your projects, or project, for the one in this folder',
  'user',
] as const

const collect = (value: string, before: readonly string[] = []): string[] => [...before, value]

/** Adds the commands that write and remove Gazeway's entry in assistants' files. */
export function addSetupCommands(program: Command): void {
  program
    .command('setup')
    .description('connect your coding assistants: write the entry into their configuration')
    .argument('[client...]', `${CLIENTS}; by default those that are installed`)
    .option(...SCOPE)
    .option('--env <name>', 'variable that is handed on to the server; may be repeated', collect)
    .option('--print', 'show what would change, and write nothing')
    .option('--yes', 'write without asking')
    .addHelpText('after', SETUP_EXAMPLES)
    .action(async (clients: string[], flags: SetupFlags) => {
      await (await import('./setup-command.ts')).setUp(clients, flags)
    })
  program
    .command('remove')
    .description('take the entry out again: their configuration is then what it was')
    .argument('[client...]', `${CLIENTS}; by default all that have the entry`)
    .option(...SCOPE)
    .option('--print', 'show what would change, and write nothing')
    .option('--yes', 'write without asking')
    .addHelpText('after', REMOVE_EXAMPLES)
    .action(async (clients: string[], flags: SetupFlags) => {
      await (await import('./setup-command.ts')).takeOut(clients, flags)
    })
}
