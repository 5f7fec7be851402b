import type { Command } from 'commander'
import { CODING_AGENT_NAMES } from '../../src/coding-agents/agent-names.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import type { ConnectFlags } from './connect-command.ts'
import type { DisconnectFlags } from './disconnect-command.ts'

const AGENTS = `coding agent: ${CODING_AGENT_NAMES.join(', ')}`

const CONNECT_EXAMPLES = `
Makes a key, writes it and the address of the gateway into the agent's own configuration, and keeps a backup of each file
beside it. The gateway need not run yet. disconnect makes the files what they were, and revokes the key.

Examples:
  $ gazeway connect claude-code --budget 20/week --session 2   at most 20 USD a week, and 2 a session
  $ gazeway connect codex --print                     preview the changes
  $ gazeway connect opencode --model llm-3-fast       with this model
  $ gazeway connect codex -- codex exec "fix the test"   one command, without writing a file
  $ gazeway connect claude-code --url https://gateway.example.org --key env`

const DISCONNECT_EXAMPLES = `
Files that were edited since keep the edits; only what connect wrote is removed.

Examples:
  $ gazeway disconnect claude-code
  $ gazeway disconnect --yes                          all agents, and revoke their keys`

const collect = (value: string, before: readonly string[] = []): string[] => [...before, value]

/** Adds the commands that have coding agents use the gateway, and that undo it. */
export function addConnectCommands(program: Command, start: () => Promise<{ loaded: LoadedConfig; log: Log }>): void {
  program
    .command('connect')
    .description('have a coding agent use the models of the gateway')
    .argument('<agent>', AGENTS)
    .argument('[command...]', 'after --: a command to run with the environment alone; no file is written')
    .option('--budget <usd/period>', 'spending limit of the key, such as 20/week; repeatable', collect)
    .option('--session <usd>', 'spending limit of each session of the agent, such as 2')
    .option('--models <globs>', 'models that the key allows, comma-separated; * matches any characters')
    .option('--name <name>', 'name of the key (default: that of the agent)')
    .option('--key <key>', 'key to use, in place of a new one; env: that of the variable GAZEWAY_KEY')
    .option('--url <url>', 'address of the gateway (default: that of this machine)')
    .option('--model <id>', "model for the work (default: the agent's own where the gateway has it)")
    .option('--small-model <id>', 'model for side calls such as titles')
    .option('--project', 'only for the project in this folder')
    .option('--print', 'print the changes without writing them (dry run)')
    .option('--yes', 'write without asking')
    .addHelpText('after', CONNECT_EXAMPLES)
    .action(async (agent: string, command: string[], flags: ConnectFlags) => {
      const { loaded, log } = await start()
      if (command.length === 0) return (await import('./connect-command.ts')).connect(loaded, log, agent, flags)
      requireSeparator(command)
      await (await import('./connect-run.ts')).runConnected(loaded, log, agent, flags, command)
    })
  program
    .command('disconnect')
    .description('undo gazeway connect')
    .argument('[agent...]', `${AGENTS} (default: all that are connected)`)
    .option('--project', 'only for the project in this folder')
    .option('--keep-key', 'do not revoke the key that connect made')
    .option('--print', 'print the changes without writing them (dry run)')
    .option('--yes', 'write and revoke without asking')
    .addHelpText('after', DISCONNECT_EXAMPLES)
    .action(async (agents: string[], flags: DisconnectFlags) => {
      const { loaded, log } = await start()
      await (await import('./disconnect-command.ts')).disconnect(loaded, log, agents, flags)
    })
}

/** Requires the words `-- COMMAND` at the end: a second agent would otherwise be run as a command. */
function requireSeparator(command: readonly string[]): void {
  const words = process.argv.slice(2)
  if (words.at(-command.length - 1) === '--') return
  throw new GazewayError('config_invalid', 'One agent at a time. A command to run is separated from it by --.', {
    param: '--',
  })
}
