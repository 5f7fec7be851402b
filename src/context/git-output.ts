import { isProjectFile } from './skipped.ts'

const FILE_MODE = '100'
const SUBMODULE_MODE = '160000'
const FILE_MODE_LENGTH = '100644'.length

/**
 * Parses the files of `git ls-files -s -z` (`100644 <hash> 0\t<path>`) with their content hashes. Skips links and
 * submodules; an unmerged file counts once.
 */
export function parseIndex(output: string): Map<string, string> {
  const objects = new Map<string, string>()
  for (const entry of output.split('\0')) {
    const tab = entry.indexOf('\t')
    if (entry.startsWith(FILE_MODE)) objects.set(entry.slice(tab + 1), entry.slice(FILE_MODE_LENGTH + 1, tab - 2))
  }
  return objects
}

/** Parses the submodules of `git ls-files -s -z` (`160000 <hash> 0\t<path>`). */
export function parseSubmodules(output: string): string[] {
  return output
    .split('\0')
    .filter((entry) => entry.startsWith(SUBMODULE_MODE))
    .map((entry) => entry.slice(entry.indexOf('\t') + 1))
}

/**
 * Parses the changes of tracked files from `git status --porcelain=v2 -z --branch --untracked-files=no` (git-status,
 * "Porcelain Format Version 2").
 *
 * @param prefix path of the root in the repository, ending with a slash; paths outside it are dropped
 * @returns the checked-out commit, and the state by path relative to the root
 */
export function parseStatus(output: string, prefix: string): { head: string; changes: Map<string, string> } {
  const changes = new Map<string, string>()
  let head = ''
  const entries = output.split('\0')
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] ?? ''
    if (entry.startsWith('# branch.oid ')) head = entry.slice('# branch.oid '.length)
    const fieldsBeforePath = FIELDS_BEFORE_PATH[entry.charAt(0)]
    if (fieldsBeforePath === undefined) continue
    if (entry.startsWith('2 ')) i++
    const inRepository = entry.split(' ').slice(fieldsBeforePath).join(' ')
    if (!inRepository.startsWith(prefix)) continue
    const path = inRepository.slice(prefix.length)
    if (isProjectFile(path)) changes.set(path, stateOf(entry))
  }
  return { head, changes }
}

/** Parses the files of `git ls-files --others -z`. Nested repositories, which end with a slash, are dropped. */
export function parseUntracked(output: string): string[] {
  return output.split('\0').filter((path) => path !== '' && !path.endsWith('/') && isProjectFile(path))
}

const FIELDS_BEFORE_PATH: Record<string, number> = { '1': 8, '2': 9, u: 10 }

function stateOf(entry: string): string {
  if (entry.startsWith('u')) return 'conflicted'
  const both = entry.slice(2, 4)
  if (both.includes('D')) return 'deleted'
  if (entry.startsWith('2')) return 'renamed'
  return both.includes('A') ? 'added' : 'modified'
}

/** Authors that are programs: `dependabot[bot]`, `renovate`, `github-actions`. Their commits show no work of people. */
const BOT =
  /\[bot\]|\b(?:dependabot|renovate|greenkeeper|github-actions|pre-commit-ci|snyk-bot|weblate)\b|[-_]bot(?:@|\s*$)/i

/**
 * Parses the files of each commit of `git log -z --name-only --format=//%H%x20%an%x20%ae`, without commits of bots.
 * Paths never contain two slashes in a row, so `//` marks a commit. The first path of a commit follows a line feed.
 */
export function parseLog(output: string): { head: string; commits: string[][] } {
  const commits: string[][] = []
  let head = ''
  let files: string[] = []
  for (const entry of output.split('\0')) {
    const [, hash, author = ''] = /^\/\/([0-9a-f]{40,64}) (.*)$/s.exec(entry) ?? []
    if (hash !== undefined) {
      head ||= hash
      files = []
      if (!BOT.test(author)) commits.push(files)
    } else if (entry !== '') {
      files.push(entry.replace(/^\n/, ''))
    }
  }
  return { head, commits }
}
