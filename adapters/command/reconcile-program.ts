import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { isProvider } from '../../src/providers/providers.ts'

const HELP = `
It needs a key that reads bills, in the environment of this command:
  OPENAI_ADMIN_KEY            an admin key (sk-admin-…)
  ANTHROPIC_ADMIN_KEY         an admin key (sk-ant-admin…)
  OPENROUTER_MANAGEMENT_KEY   a management key. OpenRouter forgets days after 30; a gateway that runs with this key
                              keeps them
  GAZEWAY_UPSTREAM_NAME_ADMIN_KEY   the same for the upstream NAME, such as one with another account or address
xAI states the cost in each answer, and needs none. Google bills by the export of Cloud Billing, which is not read.

--upstream NAME, such as openai, compares only the account of that upstream.

DIFFERENCE is the bill less what was counted; ELSEWHERE was billed for keys that Gazeway does not have.
Bills of the last 48 h are preliminary: reconcile a month on the third day of the next one.

Examples:
  $ gazeway reconcile                                   this month, all upstreams
  $ gazeway reconcile --month 2026-10 --upstream openai
  $ gazeway reconcile --month 2026-10 --csv > october.csv`

/** Adds `gazeway reconcile`. */
export function addReconcileCommand(
  program: Command,
  start: (without?: { upstream?: undefined }) => Promise<{ loaded: LoadedConfig; log: Log }>,
): void {
  program
    .command('reconcile')
    .description('compare what providers billed in a month with the recorded calls, by day, key and model')
    .option('--month <month>', 'UTC month, such as 2026-10; the current one by default')
    .option('--json', 'print JSON')
    .option('--csv', 'print CSV: a line for each key on the bill, each key of Gazeway, and each difference')
    .addHelpText('after', HELP)
    .action(async (flags: { month?: string; json?: boolean; csv?: boolean }) => {
      const { upstream } = program.opts<{ upstream?: string }>()
      // A name in `upstreams` is no provider that could be started with.
      const { loaded, log } = await start(upstream === undefined || isProvider(upstream) ? {} : { upstream: undefined })
      await (await import('./reconcile.ts')).showReconciliation(loaded, log, { ...flags, upstream })
    })
}
