import { isObject, parseJson } from '../text/json.ts'
import { repositoryName } from '../text/repository-name.ts'
import { SessionFacts } from './session-facts.ts'

/** Largest turn metadata that is read, in characters. */
const LARGEST = 16_384

/**
 * Facts in Codex's turn metadata: `{workspaces: {PATH: {associated_remote_urls: {origin}, latest_git_commit_hash,
 * has_changes}}}`, of the first workspace (`codex-rs/core/src/turn_metadata.rs`, November 2026). Paths are not read.
 *
 * @returns null without a workspace, and for what cannot be facts
 */
export function turnFacts(metadata: string): SessionFacts | null {
  if (metadata.length > LARGEST || !metadata.includes('"workspaces"')) return null
  const said = parseJson(metadata)
  const workspaces = isObject(said) && isObject(said.workspaces) ? Object.values(said.workspaces) : []
  const workspace = workspaces.find(isObject)
  if (workspace === undefined) return null
  const { latest_git_commit_hash: commit, has_changes: dirty } = workspace
  const facts = SessionFacts.safeParse({
    repository: remoteOf(workspace.associated_remote_urls),
    commit: typeof commit === 'string' ? commit : undefined,
    dirty: typeof dirty === 'boolean' ? dirty : undefined,
  })
  return facts.success && Object.values(facts.data).some((fact) => fact !== undefined) ? facts.data : null
}

/** The remote `origin`, or the first one. */
function remoteOf(urls: unknown): string | undefined {
  if (!isObject(urls)) return undefined
  const remote = urls.origin ?? Object.values(urls)[0]
  return typeof remote === 'string' && repositoryName(remote) !== null ? remote : undefined
}
