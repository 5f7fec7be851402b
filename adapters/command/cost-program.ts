import { type Command, Option } from 'commander'
import { COST_PARTS } from '../../src/coding-sessions/cost-parts.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { CostFlags } from './cost.ts'

const EXAMPLES = `
A call belongs to the branch that its session worked on, and to the first commit that the session made after it.
Commits are noted at the end of a turn; gazeway hook install notes them at once.

Examples:
  $ gazeway cost                                         what this repository cost, by session
  $ gazeway cost --branch feature/pay --by commit        the commits of a branch, beside their money
  $ gazeway cost --since 7d --by day
  $ gazeway cost --pr origin/main..HEAD                  a table for the description of a pull request
  $ gazeway --remote https://gazeway.example.org cost    of another Gazeway; its key: GAZEWAY_REMOTE_KEY`

/** Adds `gazeway cost`. */
export function addCostCommand(program: Command, start: () => Promise<{ loaded: LoadedConfig }>): void {
  program
    .command('cost')
    .description('print what coding agents cost in a repository: by session, day, model or commit')
    .option('--repo <folder|name>', 'folder in the repository, or its remote such as github.com/ann/shop', '.')
    .option('--branch <name>', 'only this branch')
    .option('--since <time>', 'only calls since then, such as 7d or 2026-11-01')
    .addOption(new Option('--by <part>', 'what a line is').choices(COST_PARTS).default('session'))
    .option('--pr <range>', 'cost of the commits in BASE..HEAD as Markdown')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: CostFlags) => {
      const { loaded } = await start()
      await (await import('./cost.ts')).showCost(loaded, flags)
    })
}
