import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { PERIOD_NAMES } from '../../src/text/period.ts'
import type { GroupFlags } from './group-command.ts'
import type { KeyChangeFlags, KeyFlags } from './key-command.ts'

/** Reads the configuration that the command line names. */
type Start = () => Promise<{ loaded: LoadedConfig; log: Log }>

const KEY = 'key id or name, from `gazeway key list`'
const GROUP = 'group id or name, from `gazeway group list`'

const CREATE_EXAMPLES = `
A budget is USD/PERIOD, such as 5/day; the periods are ${PERIOD_NAMES.join(', ')}, in UTC. A call counts against all budgets
of its key and of the key's group.

Billing:
  recorded   the cost of calls is recorded; nothing is charged
  cost       the cost is charged
  metered    the cost and the margin are charged

Examples:
  $ gazeway key create --name laptop
  $ gazeway key create --name ann --group team --budget 5/day --budget 50/month
  $ gazeway key create --name eve --budget 50/month --alert 80% --alert 100%
  $ gazeway key create --name agents --budget 20/day --session 2
  $ gazeway key create --name ci --models 'gpt-*,llm-3-fast' --expires 90d --requests-per-minute 60 --concurrent 4
  $ gazeway key create --name shop --scope platform --billing metered --credit 0`

const EDIT_EXAMPLES = `
Only the settings with a flag change. --budget replaces all budgets of the key, and --alert all alerts.

  none    removes a limit, all budgets or all alerts
  never   removes the expiry
  all     allows all models

Examples:
  $ gazeway key edit laptop --budget 10/day --budget 100/month
  $ gazeway key edit key_0199f4c2c5b27a3e8f0d4a6b9c1e2d3f --budget none --concurrent none --models all
  $ gazeway key edit key_0199f4c2c5b27a3e8f0d4a6b9c1e2d3f --expires 2027-06-30T00:00:00Z --no-group`

const ROTATE_EXAMPLES = `
Limits, balance and history stay with the key. A second rotation within the grace period revokes the first secret at once.

Examples:
  $ gazeway key rotate laptop
  $ gazeway key rotate key_0199f4c2c5b27a3e8f0d4a6b9c1e2d3f --grace 0      revoke a leaked secret`

const GROUP_EXAMPLES = `
A call counts against the budgets of its key and of the key's group.

Examples:
  $ gazeway group create --name team --budget 20/day --budget 300/month
  $ gazeway key create --name ann --group team --budget 5/day
  $ gazeway group edit team --budget 30/day
  $ gazeway group delete team`

const collect = (value: string, before: readonly string[] = []): string[] => [...before, value]

const ALERT = [
  '--alert <percent>',
  'spent share of a budget that sends an alert to alerts.webhook_url, such as 80%, or none; repeatable',
  collect,
] as const

/** Adds the commands for keys and groups. Their code is loaded when one is called. */
export function addKeyCommands(program: Command, start: Start): void {
  const key = program
    .command('key')
    .description('create, list, edit, rotate, forgive, release and revoke the API keys of the HTTP services')
  withTerms(
    key
      .command('create')
      .description('create a key and print it; the key is shown only once')
      .requiredOption('--name <name>', 'display name of the key')
      .option('--scope <scopes>', 'scopes, comma-separated: inference, platform, admin', 'inference')
      .option('--wallet <address>', 'wallet address to bind to the key: 0x…')
      .option('--group <group>', GROUP),
  )
    .addHelpText('after', CREATE_EXAMPLES)
    .action(async (flags: KeyFlags) => {
      const { loaded, log } = await start()
      await (await import('./key-command.ts')).createKey(loaded, log, flags)
    })
  key
    .command('list')
    .description('list all keys with their limits and spending, without their secrets')
    .option('--burn', 'list keys and groups by the time until they run out, at the rate of the last 24 h')
    .option('--json', 'print JSON')
    .action(async ({ burn = false, ...flags }: { burn?: boolean; json?: boolean }) => {
      const { loaded, log } = await start()
      const { listBurn, listKeys } = await import('./key-command.ts')
      await (burn ? listBurn : listKeys)(loaded, log, flags)
    })
  withTerms(
    key
      .command('edit')
      .description('edit a key; running servers apply the change within 5 s')
      .argument('<key>', KEY)
      .option('--name <name>', 'display name of the key')
      .option('--group <group>', GROUP)
      .option('--no-group', 'remove the key from its group'),
  )
    .addHelpText('after', EDIT_EXAMPLES)
    .action(async (idOrName: string, flags: KeyChangeFlags) => {
      const { loaded, log } = await start()
      await (await import('./key-command.ts')).editKey(loaded, log, idOrName, flags)
    })
  key
    .command('rotate')
    .description('replace the secret of a key and print the new key; the key is shown only once')
    .argument('<key>', KEY)
    .option(
      '--grace <duration>',
      'how long the old secret still works: 30m, 24h or 7d, at most 30d; 0 revokes it at once',
      '24h',
    )
    .addHelpText('after', ROTATE_EXAMPLES)
    .action(async (idOrName: string, flags: { grace: string }) => {
      const { loaded, log } = await start()
      await (await import('./key-command.ts')).rotateKey(loaded, log, idOrName, flags)
    })
  addKeyEndings(key, start)
  addGroupCommands(program, start)
}

/** Adds the commands that end a key, and what it owes or holds. */
function addKeyEndings(key: Command, start: Start): void {
  key
    .command('forgive')
    .description('forgive the debts of the budgets of a key, from usage beyond reservations')
    .argument('<key>', KEY)
    .action(async (idOrName: string) => {
      const { loaded, log } = await start()
      await (await import('./key-command.ts')).forgiveKey(loaded, log, idOrName)
    })
  key
    .command('revoke')
    .description('revoke a key; running servers refuse it within 5 s')
    .argument('<key>', KEY)
    .action(async (idOrName: string) => {
      const { loaded, log } = await start()
      await (await import('./key-command.ts')).revokeKey(loaded, log, idOrName)
    })
  key
    .command('release')
    .description('release what is presumed spent of a key because a process died')
    .argument('<key>', KEY)
    .action(async (idOrName: string) => {
      const { loaded, log } = await start()
      await (await import('./key-command.ts')).releaseKey(loaded, log, idOrName)
    })
}

function addGroupCommands(program: Command, start: Start): void {
  const group = program
    .command('group')
    .description('create, list, edit, forgive, release and delete groups of keys with shared budgets')
    .addHelpText('after', GROUP_EXAMPLES)
  withGroupTerms(
    group
      .command('create')
      .description('create a group and print its id')
      .requiredOption('--name <name>', 'unique name of the group'),
  )
    .addHelpText('after', GROUP_EXAMPLES)
    .action(async (flags: GroupFlags) => {
      const { loaded, log } = await start()
      await (await import('./group-command.ts')).createGroup(loaded, log, flags)
    })
  group
    .command('list')
    .description('list all groups with their budgets and spending')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: boolean }) => {
      const { loaded, log } = await start()
      await (await import('./group-command.ts')).listGroups(loaded, log, flags)
    })
  withGroupTerms(
    group
      .command('edit')
      .description('edit a group; running servers apply the change within 5 s')
      .argument('<group>', GROUP)
      .option('--name <name>', 'unique name of the group'),
  )
    .addHelpText('after', GROUP_EXAMPLES)
    .action(async (idOrName: string, flags: GroupFlags) => {
      const { loaded, log } = await start()
      await (await import('./group-command.ts')).editGroup(loaded, log, idOrName, flags)
    })
  group
    .command('forgive')
    .description('forgive the debts of the budgets of a group, from usage beyond reservations')
    .argument('<group>', GROUP)
    .action(async (idOrName: string) => {
      const { loaded, log } = await start()
      await (await import('./group-command.ts')).forgiveGroup(loaded, log, idOrName)
    })
  group
    .command('delete')
    .description('delete a group without keys')
    .argument('<group>', GROUP)
    .action(async (idOrName: string) => {
      const { loaded, log } = await start()
      await (await import('./group-command.ts')).deleteGroup(loaded, log, idOrName)
    })
  group
    .command('release')
    .description('release what is presumed spent of the keys of a group because a process died')
    .argument('<group>', GROUP)
    .action(async (idOrName: string) => {
      const { loaded, log } = await start()
      await (await import('./group-command.ts')).releaseGroup(loaded, log, idOrName)
    })
}

/** Adds the flags that `key create` and `key edit` share. */
const withTerms = (command: Command): Command =>
  withSessionLimits(
    command
      .option('--billing <billing>', 'billing of calls: recorded, cost or metered')
      .option('--budget <usd/period>', 'spending limit, such as 5/day, or none; repeatable', collect)
      .option(...ALERT)
      .option('--credit <usd>', 'spending limit beyond deposits, or none for the default')
      .option('--models <globs>', 'allowed models, comma-separated; * matches any characters')
      .option('--lenient', 'drop and name what an upstream cannot express, instead of refusing the request')
      .option('--no-lenient', 'refuse it')
      .option('--cache <auto|off>', 'marks and keys for the prompt caches of providers: auto for sessions, or off')
      .option('--expires <when>', 'expiry: a duration such as 90d, or a time such as 2027-01-31T00:00:00Z')
      .option('--requests-per-minute <n>', 'limit of calls per minute')
      .option('--tokens-per-minute <n>', 'limit of tokens per minute')
      .option('--concurrent <n>', 'limit of concurrent calls'),
  )

/** Adds the flags that `group create` and `group edit` share. */
const withGroupTerms = (command: Command): Command =>
  withSessionLimits(
    command.option(
      '--budget <usd/period>',
      'spending limit for all keys of the group, such as 20/day, or none; repeatable',
      collect,
    ),
  ).option(...ALERT)

/** Adds the limits of each session, which keys and groups share. */
const withSessionLimits = (command: Command): Command =>
  command
    .option('--session <usd>', 'spending limit of each session of a coding agent, such as 2, or none')
    .option('--session-calls <n>', 'limit of calls of each session, or none')
    .option('--session-minutes <n>', 'minutes of each session from its first call, or none')
    .option(
      '--repeats <times/minutes>',
      'most times that a session may ask the same within some minutes, such as 5/10, or none',
    )
