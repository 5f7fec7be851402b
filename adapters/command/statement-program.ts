import { type Command, Option } from 'commander'
import { SESSION_GROUPS } from '../../src/calls/session-groups.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import type { StatementFlags } from './statement.ts'

const EXAMPLES = `
Examples:
  $ gazeway statement                                     this month, all accounts
  $ gazeway statement --month 2026-11 --close             close November, so that nothing is booked into it later
  $ gazeway statement --by branch                         this month, what each branch cost
  $ gazeway statement --month 2026-11 --key key_… --format html > november.html`

/** Adds `gazeway statement`. */
export function addStatementCommand(program: Command, start: () => Promise<{ loaded: LoadedConfig; log: Log }>): void {
  program
    .command('statement')
    .description('print the account of a month or a day: balances, deposits, charges by day and model, signed')
    .option('--month <month>', 'UTC month, such as 2026-11; the current one by default')
    .option('--day <day>', 'UTC day, such as 2026-11-26')
    .option('--key <id>', 'only this key, or this wallet')
    .option('--group <id>', 'only the keys of this group')
    .addOption(new Option('--by <group>', 'charges by this, and not by day and model').choices(SESSION_GROUPS))
    .addOption(
      new Option('--format <format>', 'form of the output').choices(['table', 'json', 'csv', 'html']).default('table'),
    )
    .option('--close', 'close the period first, so that nothing is booked into it later')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: StatementFlags) => {
      const { loaded, log } = await start()
      await (await import('./statement.ts')).showStatement(loaded, log, flags)
    })
}
