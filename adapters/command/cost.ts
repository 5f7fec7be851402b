import { existsSync } from 'node:fs'
import type { CostPart } from '../../src/coding-sessions/cost-parts.ts'
import { type CostQuery, SessionCosts, sessionCosts } from '../../src/coding-sessions/session-costs.ts'
import { takePending } from '../../src/coding-sessions/take-pending.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import { GazewayError } from '../../src/errors.ts'
import { readRepositoryFacts } from '../../src/projects/repository-facts.ts'
import { createAskRemote } from '../../src/remote/remote-request.ts'
import { openStore } from '../../src/store/open-store.ts'
import { durationMs } from '../../src/text/duration.ts'
import { repositoryName } from '../../src/text/repository-name.ts'
import { commitsIn, costOfCommits } from './cost-of-range.ts'
import { costMarkdown, costTable } from './cost-report.ts'
import { requireStore } from './require-store.ts'

/** Flags of `gazeway cost`. */
export interface CostFlags {
  repo: string
  branch?: string
  since?: string
  by: CostPart
  pr?: string
  json?: boolean
}

/**
 * Prints what the sessions of coding agents cost in a repository.
 *
 * @throws GazewayError `not_found` without a repository or a store, `validation_failed` for a flag
 */
export async function showCost(loaded: LoadedConfig, flags: CostFlags): Promise<void> {
  const { repo, branch, since, by, pr, json = false } = flags
  const repository = await repositoryOf(repo)
  const query = { repository, ...(branch !== undefined && { branch }), ...(since && { from: timeOf(since) }) }
  if (pr !== undefined) {
    const commits = await commitsIn(existsSync(repo) ? repo : '.', pr)
    const found = await costsFrom(loaded, { ...query, by: 'commit' })
    hintAtHooks(found)
    const costs = costOfCommits(commits, found)
    return print(json ? inJson({ repository, range: pr, commits: costs }) : costMarkdown(costs))
  }
  const costs = await costsFrom(loaded, { ...query, by })
  hintAtHooks(costs)
  print(
    json ? inJson({ repository, branch: branch ?? null, by, ...costs }) : costTable(by, branch ?? repository, costs),
  )
}

/** Says why nothing may be found: calls alone do not say where their agent works. */
function hintAtHooks({ total }: SessionCosts): void {
  if (total.sessions > 0) return
  process.stderr.write(
    'No session is known to have worked there. Hooks of the agent note it: docs/guides/coding-sessions.md\n',
  )
}

const print = (text: string): void => void process.stdout.write(text)
const inJson = (value: object): string => `${JSON.stringify(value, null, 2)}\n`

/** Asks the remote Gazeway where there is one, else the store, after what hooks have left in the data folder. */
async function costsFrom(loaded: LoadedConfig, query: CostQuery): Promise<SessionCosts> {
  const { url, key, timeout_ms: timeoutMs } = loaded.config.remote
  if (url !== null)
    return createAskRemote({ url, key, timeoutMs })({ path: '/api/coding-session-costs', query, reply: SessionCosts })
  requireStore(loaded)
  const store = await openStore(loaded.storeUrl)
  try {
    await takePending(store, loaded.dataDir, new Date())
    return await sessionCosts(store, query)
  } finally {
    await store.close()
  }
}

/** Names the repository that a folder is in, or that is given by its remote. */
async function repositoryOf(repo: string): Promise<string> {
  const named = existsSync(repo) ? null : repositoryName(repo)
  if (named !== null) return named
  const found = await readRepositoryFacts(repo)
  if (found?.repository) return found.repository
  const why = found === null ? 'is in no git repository' : 'is in a repository without a remote and a first commit'
  throw new GazewayError('not_found', `${repo} ${why}. Name one with --repo, such as github.com/ann/shop.`, {
    param: '--repo',
  })
}

function timeOf(since: string): string {
  const ms = durationMs(since)
  const at = ms === null ? Date.parse(since) : Date.now() - ms
  if (!Number.isNaN(at)) return new Date(at).toISOString()
  throw new GazewayError('validation_failed', '--since: must be a duration such as 7d, or a day such as 2026-11-01.', {
    param: '--since',
  })
}
