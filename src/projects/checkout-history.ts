import { git } from '../repository/git-command.ts'
import { cut } from '../text/cut.ts'

/** A commit that was made in a checkout. */
export interface MadeCommit {
  sha: string
  /** End of the second in which its work was committed, ISO. */
  at: string
  subject: string
}

/** A change of the branch that is checked out. */
export interface BranchSwitch {
  /** Beginning of its second, ISO. */
  at: string
  /** Null for a commit that no branch was checked out for. */
  from: string | null
  to: string | null
}

/** What happened in a checkout since a time, oldest first. */
export interface CheckoutHistory {
  made: MadeCommit[]
  switches: BranchSwitch[]
  /** Commits that a branch, a tag or HEAD has, fetched ones too. Null when there are too many to say. */
  present: ReadonlySet<string> | null
}

/** Commits read of the history, and moves of HEAD read of its log. */
const MAX_COMMITS = 500
const MAX_MOVES = 2000
/** Longest kept subject, in characters. */
const LONGEST_SUBJECT = 200

const COMMIT = /^([0-9a-f]+) (\d+) (\d+) (.*)$/
const MOVE = /^([0-9a-f]+) HEAD@\{(\d+)\} (.*)$/
const SWITCH = /^checkout: moving from (\S+) to (\S+)$/
/** A name that is no branch: a commit, one that is counted from another, or one that facts may not have. */
const NO_BRANCH = /^[0-9a-f]{7,64}$|^[A-Z_]*HEAD$|[~^@{\p{Cc}]|.{256}/u

/** Moves of HEAD that make a commit: not those to a commit that is there already, such as a checkout or a fast-forward. */
const MADE =
  /^(?:commit\b|cherry-pick\b|revert\b|am\b|(?:rebase|pull)\b[^:]*\((?:pick|reword|edit|squash|fixup|continue|merge)\)|(?:merge|pull)\b[^:]*: Merge made)/
const REBASED = /^(?:rebase|pull)\b/

interface Move {
  sha: string
  /** Seconds since 1970. */
  at: number
  what: string
}

/**
 * Reads the commits that were made in a checkout since a time and that a branch, a tag or HEAD still has, and the changes
 * of its branch. Commits that were fetched are not among them, as far as HEAD has a log. A commit that a rebase has copied
 * keeps the time of its author, so that each keeps its share of the work; one of before `since` was not made since.
 *
 * @throws GazewayError `cancelled` when the signal aborts
 */
export async function checkoutHistory(top: string, since: Date, signal?: AbortSignal): Promise<CheckoutHistory> {
  const checkout = { root: top, top }
  const from = Math.floor(since.getTime() / 1000)
  const range = [`--since=${from}`, `-n${MAX_COMMITS}`, '--exclude=refs/stash', '--all', '--end-of-options', 'HEAD']
  const [history, log] = await Promise.all([
    git(checkout, ['log', '--topo-order', '--reverse', '--format=%H %ct %at %s', ...range], signal),
    git(checkout, ['log', '-g', `-n${MAX_MOVES}`, '--date=unix', '--format=%H %gd %gs', 'HEAD', '--'], signal),
  ])
  const moves = log.output.split('\n').flatMap(moveIn)
  const moveOf = moves.length === 0 ? null : makersOf(moves)
  const lines = history.output.split('\n').filter(Boolean)
  const isWhole = history.failure === null && lines.length < MAX_COMMITS
  return {
    made: lines.flatMap((line) => madeIn(line, moveOf, from)),
    switches: moves.reverse().flatMap((move) => (move.at < from ? [] : switchIn(move))),
    present: isWhole ? new Set(lines.map((line) => line.slice(0, line.indexOf(' ')))) : null,
  }
}

function moveIn(line: string): Move[] {
  const [, sha, at, what] = MOVE.exec(line) ?? []
  return sha === undefined || what === undefined ? [] : [{ sha, at: Number(at), what }]
}

/** Finds the newest move that made each commit. */
function makersOf(moves: readonly Move[]): Map<string, string> {
  const made = new Map<string, string>()
  for (const { sha, what } of moves) if (MADE.test(what) && !made.has(sha)) made.set(sha, what)
  return made
}

function madeIn(line: string, moveOf: ReadonlyMap<string, string> | null, from: number): MadeCommit[] {
  const [, sha, committed, authored, words] = COMMIT.exec(line) ?? []
  if (sha === undefined || words === undefined) return []
  const subject = cut(words, 0, LONGEST_SUBJECT)
  const move = moveOf?.get(sha)
  if (moveOf !== null && move === undefined) return []
  if (move === undefined || !REBASED.test(move)) return [{ sha, at: endOfSecond(Number(committed)), subject }]
  return Number(authored) < from ? [] : [{ sha, at: endOfSecond(Number(authored)), subject }]
}

function switchIn({ at, what }: Move): BranchSwitch[] {
  const [, before, after] = SWITCH.exec(what) ?? []
  if (before === undefined || after === undefined || before === after) return []
  return [{ at: new Date(at * 1000).toISOString(), from: branchOf(before), to: branchOf(after) }]
}

const branchOf = (name: string): string | null => (NO_BRANCH.test(name) ? null : name)

/** Commits have whole seconds, calls have milliseconds: a call right before the commit is of it. */
const endOfSecond = (seconds: number): string => new Date(seconds * 1000 + 999).toISOString()
