import type { CostLine, SessionCosts } from '../../src/coding-sessions/session-costs.ts'
import { GazewayError } from '../../src/errors.ts'
import { askGit, openCheckout, resolveCommit } from '../../src/review/checkout.ts'
import { revisionsIn } from './review-range.ts'

/** A commit of a range. `cost` is null where no session has noted it. */
export interface CommitCost {
  sha: string
  subject: string
  cost: CostLine | null
}

/** Most commits of a range: it is a table for the description of a pull request. */
const MOST_COMMITS = 1000

/**
 * Lists the commits of BASE..HEAD, oldest first.
 *
 * @throws GazewayError as {@link revisionsIn} and {@link openCheckout}, `not_found` for an unknown revision,
 *   `validation_failed` for more than 1,000 commits
 */
export async function commitsIn(folder: string, range: string): Promise<Omit<CommitCost, 'cost'>[]> {
  const { base, head } = revisionsIn(range, '--pr')
  const checkout = await openCheckout(folder)
  const [from, to] = await Promise.all([resolveCommit(checkout, base), resolveCommit(checkout, head)])
  const log = [
    'log',
    '--topo-order',
    '--reverse',
    `-n${MOST_COMMITS + 1}`,
    '--format=%H %s',
    `${from.commit}..${to.commit}`,
  ]
  const output = await askGit(checkout, [...log, '--'])
  const lines = output.toString().split('\n').filter(Boolean)
  if (lines.length > MOST_COMMITS)
    throw new GazewayError(
      'validation_failed',
      `--pr: ${range} has more than ${MOST_COMMITS} commits. Choose a later BASE, or use gazeway cost --by commit.`,
      { param: '--pr' },
    )
  return lines.map((line) => {
    const at = line.indexOf(' ')
    return { sha: line.slice(0, at), subject: line.slice(at + 1) }
  })
}

/** Puts beside commits what they cost. @param costs of the repository by commit */
export function costOfCommits(commits: readonly Omit<CommitCost, 'cost'>[], { lines }: SessionCosts): CommitCost[] {
  const costOf = new Map(lines.map((line) => [line.key, line]))
  return commits.map((commit) => ({ ...commit, cost: costOf.get(commit.sha) ?? null }))
}
