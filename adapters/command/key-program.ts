import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import type { GroupFlags } from './group-command.ts'
import type { KeyChangeFlags, KeyFlags } from './key-command.ts'

/** Reads the configuration that the command line names. */
type Start = () => Promise<{ loaded: LoadedConfig; log: Log }>

const ID = 'the id of a key, as `gazeway key list` shows it'
const GROUP = 'the id or the name of a group, as `gazeway group list` shows it'

const CREATE_EXAMPLES = `
A budget is USD/PERIOD: 5/day, 20/week, 100/month or 500/total, in UTC. What its calls cost counts against all budgets of a
key and of its group. recorded notes the cost, cost charges it, metered charges it and the margin.

Examples:
  $ gazeway key create --name laptop
  $ gazeway key create --name ann --group team --budget 5/day --budget 50/month
  $ gazeway key create --name eve --budget 50/month --alert 80% --alert 100%
  $ gazeway key create --name ci --models 'gpt-*,llm-3-fast' --expires 90d --requests-per-minute 60 --concurrent 4
  $ gazeway key create --name shop --scope platform --billing metered --credit 0`

const EDIT_EXAMPLES = `
What is not named stays. --budget takes the place of all budgets of the key, --alert of all alerts. none takes a limit away,
never an end, all a list of models.

Examples:
  $ gazeway key edit key_0199f4c2c5b27a3e8f0d4a6b9c1e2d3f --budget 10/day --budget 100/month
  $ gazeway key edit key_0199f4c2c5b27a3e8f0d4a6b9c1e2d3f --budget none --concurrent none --models all
  $ gazeway key edit key_0199f4c2c5b27a3e8f0d4a6b9c1e2d3f --expires 2027-06-30T00:00:00Z --no-group`

const ROTATE_EXAMPLES = `
Limits, money and history stay with the key. Rotating again within the grace ends the first secret at once.

Examples:
  $ gazeway key rotate key_0199f4c2c5b27a3e8f0d4a6b9c1e2d3f
  $ gazeway key rotate key_0199f4c2c5b27a3e8f0d4a6b9c1e2d3f --grace 0      it has leaked`

const GROUP_EXAMPLES = `
What the keys of a group spend counts against its budgets, and against their own.

Examples:
  $ gazeway group create --name team --budget 20/day --budget 300/month
  $ gazeway key create --name ann --group team --budget 5/day
  $ gazeway group edit team --budget 30/day
  $ gazeway group delete team`

const collect = (value: string, before: readonly string[] = []): string[] => [...before, value]

const ALERT = [
  '--alert <percent>',
  'send an alert to alerts.webhook_url once so much of a budget is spent: 80%; may be repeated; none',
  collect,
] as const

/** Adds the commands on keys and groups. What they do is loaded when one is called. */
export function addKeyCommands(program: Command, start: Start): void {
  const key = program
    .command('key')
    .description('make, list, change, rotate and revoke the API keys of the HTTP services')
  withTerms(
    key
      .command('create')
      .description('make a key and print it, once')
      .requiredOption('--name <name>', 'a name that says what the key is for')
      .option('--scope <scopes>', 'what it may do: inference, platform, admin, separated by commas', 'inference')
      .option('--wallet <address>', 'wallet address that its calls belong to: 0x…')
      .option('--group <group>', GROUP),
  )
    .addHelpText('after', CREATE_EXAMPLES)
    .action(async (flags: KeyFlags) => {
      const { loaded, log } = await start()
      await (await import('./key-command.ts')).createKey(loaded, log, flags)
    })
  key
    .command('list')
    .description('list all keys with their limits and what they have spent, without their secrets')
    .option('--burn', 'who is about to run dry: keys and groups by the time that is left at the rate of the last 24 h')
    .action(async ({ burn = false }: { burn?: boolean }) => {
      const { loaded, log } = await start()
      const { listBurn, listKeys } = await import('./key-command.ts')
      await (burn ? listBurn : listKeys)(loaded, log)
    })
  withTerms(
    key
      .command('edit')
      .description('change what a key is held to; running servers follow within 5 s')
      .argument('<id>', ID)
      .option('--name <name>', 'a name that says what the key is for')
      .option('--group <group>', GROUP)
      .option('--no-group', 'take it out of its group'),
  )
    .addHelpText('after', EDIT_EXAMPLES)
    .action(async (id: string, flags: KeyChangeFlags) => {
      const { loaded, log } = await start()
      await (await import('./key-command.ts')).editKey(loaded, log, id, flags)
    })
  key
    .command('rotate')
    .description('give a key a new secret and print it, once')
    .argument('<id>', ID)
    .option('--grace <duration>', 'how long the secret before still works: 30m, 24h or 7d, up to 30d; 0 ends it', '24h')
    .addHelpText('after', ROTATE_EXAMPLES)
    .action(async (id: string, flags: { grace: string }) => {
      const { loaded, log } = await start()
      await (await import('./key-command.ts')).rotateKey(loaded, log, id, flags)
    })
  key
    .command('revoke')
    .description('revoke a key; running servers refuse it within 5 s')
    .argument('<id>', ID)
    .action(async (id: string) => {
      const { loaded, log } = await start()
      await (await import('./key-command.ts')).revokeKey(loaded, log, id)
    })
  addGroupCommands(program, start)
}

function addGroupCommands(program: Command, start: Start): void {
  const group = program
    .command('group')
    .description('make, list, change and delete groups of keys, which share budgets')
    .addHelpText('after', GROUP_EXAMPLES)
  const budget = [
    '--budget <usd/period>',
    'how much its keys together may spend: 20/day; may be repeated',
    collect,
  ] as const
  group
    .command('create')
    .description('make a group and print its id')
    .requiredOption('--name <name>', 'a name that no other group has')
    .option(...budget)
    .option(...ALERT)
    .addHelpText('after', GROUP_EXAMPLES)
    .action(async (flags: GroupFlags) => {
      const { loaded, log } = await start()
      await (await import('./group-command.ts')).createGroup(loaded, log, flags)
    })
  group
    .command('list')
    .description('list all groups with their budgets and what their keys have spent')
    .action(async () => {
      const { loaded, log } = await start()
      await (await import('./group-command.ts')).listGroups(loaded, log)
    })
  group
    .command('edit')
    .description('change the name of a group, or all its budgets or alerts; running servers follow within 5 s')
    .argument('<group>', GROUP)
    .option('--name <name>', 'a name that no other group has')
    .option(...budget)
    .option(...ALERT)
    .addHelpText('after', GROUP_EXAMPLES)
    .action(async (idOrName: string, flags: GroupFlags) => {
      const { loaded, log } = await start()
      await (await import('./group-command.ts')).editGroup(loaded, log, idOrName, flags)
    })
  group
    .command('delete')
    .description('delete a group that has no keys')
    .argument('<group>', GROUP)
    .action(async (idOrName: string) => {
      const { loaded, log } = await start()
      await (await import('./group-command.ts')).deleteGroup(loaded, log, idOrName)
    })
}

/** The flags that a key can be made with and that can be changed. */
const withTerms = (command: Command): Command =>
  command
    .option('--billing <billing>', 'what its calls cost it: recorded, cost or metered')
    .option('--budget <usd/period>', 'how much it may spend: 5/day, 50/month; may be repeated', collect)
    .option(...ALERT)
    .option('--credit <usd>', 'how far it may spend beyond its deposit')
    .option('--models <globs>', 'models that it may ask, separated by commas; * stands for any characters')
    .option('--expires <when>', 'when it stops working: 90d, or a time such as 2027-01-31T00:00:00Z')
    .option('--requests-per-minute <n>', 'how many calls may begin in a minute')
    .option('--tokens-per-minute <n>', 'how many tokens its calls may use in a minute')
    .option('--concurrent <n>', 'how many calls may be under way at a time')
