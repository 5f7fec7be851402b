const FILE_MODE = '100'

/** The files of `git ls-files -s -z` (`100644 <hash> 0\t<path>`): no links, no submodules, an unmerged file once. */
export function parseIndex(output: string): string[] {
  const paths = new Set<string>()
  for (const entry of output.split('\0')) {
    if (entry.startsWith(FILE_MODE)) paths.add(entry.slice(entry.indexOf('\t') + 1))
  }
  return [...paths]
}

/**
 * The changes of `git status --porcelain=v2 -z --branch` (git-status, "Porcelain Format Version 2").
 *
 * @param prefix the root as the repository sees it, ending with a slash; paths outside it are left out
 * @returns the commit that is checked out, and the state by path relative to the root
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
    const path = entry.split(' ').slice(fieldsBeforePath).join(' ')
    if (path.startsWith(prefix) && !path.endsWith('/')) changes.set(path.slice(prefix.length), stateOf(entry))
  }
  return { head, changes }
}

const FIELDS_BEFORE_PATH: Record<string, number> = { '?': 1, '1': 8, '2': 9, u: 10 }

function stateOf(entry: string): string {
  if (entry.startsWith('?')) return 'untracked'
  if (entry.startsWith('u')) return 'conflicted'
  const both = entry.slice(2, 4)
  if (both.includes('D')) return 'deleted'
  if (entry.startsWith('2')) return 'renamed'
  return both.includes('A') ? 'added' : 'modified'
}

/**
 * The files of each commit of `git log -z --name-only --format=//%H`. No path has two slashes in a row, so none passes for
 * a commit; the first path of a commit has a line feed before it.
 */
export function parseLog(output: string): { head: string; commits: string[][] } {
  const commits: string[][] = []
  let head = ''
  for (const entry of output.split('\0')) {
    if (/^\/\/[0-9a-f]{40,64}$/.test(entry)) {
      head ||= entry.slice(2)
      commits.push([])
    } else if (entry !== '') {
      commits.at(-1)?.push(entry.replace(/^\n/, ''))
    }
  }
  return { head, commits }
}
