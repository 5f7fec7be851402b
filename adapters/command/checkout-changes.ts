import type { SessionFacts } from '../../src/coding-sessions/session-facts.ts'
import { type BranchSwitch, checkoutHistory, type MadeCommit } from '../../src/projects/checkout-history.ts'
import type { NotedSession } from './noted-session.ts'

/** Most commits in one request. */
const MOST_COMMITS = 100
/** Most changes of the branch between two hooks; the newest count. */
const MOST_SWITCHES = 20
/** Length of a time up to its second. */
const SECOND = '2026-11-01T00:00:00'.length

/** Events of a checkout since the last hook of a session. */
export interface CheckoutNews {
  /** Facts of the branches that were checked out since, oldest first. */
  branches: SessionFacts[]
  /** Commits to note that are not in those. */
  made: MadeCommit[]
  /** Noted commits that an amend or a rebase has replaced. */
  replaced: string[]
  /** Commits of the checkout that are noted after that. */
  noted: string[]
}

export const NO_NEWS: CheckoutNews = { branches: [], made: [], replaced: [], noted: [] }

/** Reads what happened in a checkout since the last hook of a session. @throws GazewayError `cancelled` */
export async function newsOf(top: string, known: NotedSession, now: Date, signal: AbortSignal): Promise<CheckoutNews> {
  const { branch, commits: noted } = known.checkouts[top] ?? { branch: null, commits: [] }
  const { made, present, switches } = await checkoutHistory(top, new Date(known.began_at), signal)
  const unnoted = made
    .filter(({ sha }) => !noted.includes(sha))
    .slice(0, MOST_COMMITS)
    // The end of the second of a commit that was just made is yet to come.
    .map((commit) => ({ ...commit, at: [commit.at, now.toISOString()].sort()[0] as string }))
  const replaced = present === null ? [] : noted.filter((sha) => !present.has(sha)).slice(0, MOST_COMMITS)
  const branches = top in known.checkouts ? branchesSince(switches, unnoted, { branch, at: known.noted_at }) : []
  return {
    branches,
    made: branches.length === 0 ? unnoted : [],
    replaced,
    noted: [...noted.filter((sha) => !replaced.includes(sha)), ...unnoted.map(({ sha }) => sha)],
  }
}

/** Facts for each branch since the one that was checked out at the last hook, with the commits made on it. */
function branchesSince(
  switches: readonly BranchSwitch[],
  made: readonly MadeCommit[],
  { branch, at }: { branch: string | null; at: string },
): SessionFacts[] {
  const second = at.slice(0, SECOND)
  const recent = switches.filter((one) => one.at.slice(0, SECOND) >= second)
  // Those before the hook, in the same second, are noted.
  const first = recent.findIndex(({ from }) => from === branch)
  if (first < 0) return []
  const parts = [{ branch, at }, ...recent.slice(first).map((one) => ({ branch: one.to, at: one.at }))]
  return parts.slice(-MOST_SWITCHES).map((part, i, all) => {
    const until = all[i + 1]?.at
    const commits = made.filter((one) => (i === 0 || part.at <= one.at) && (until === undefined || one.at < until))
    return { ...part, ...(commits.length > 0 && { commits }) }
  })
}
