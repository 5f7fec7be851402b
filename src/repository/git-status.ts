import { type Answer, type Checkout, git } from './git-command.ts'

/** The exit code of `git config --get-regexp` when nothing matches. */
const NO_MATCH = 1

/**
 * Runs `git status` on the tracked files, with the filters off that {@link readFilters} found: they are programs that
 * the repository names.
 */
export async function readStatus(checkout: Checkout, filters: Answer, signal?: AbortSignal): Promise<Answer> {
  if (filters.failure !== null && filters.exitCode !== NO_MATCH) return filters
  const keys = filters.output.split('\0').filter(Boolean)
  const names = [...new Set(keys.map((key) => key.slice(0, key.lastIndexOf('.'))))]
  // `-c` splits at the first '=', so such a filter cannot be switched off and status must not run.
  const unstoppable = names.find((name) => name.includes('='))
  if (unstoppable !== undefined) return { ...filters, failure: `its configuration has a filter called ${unstoppable}` }
  const off = names.flatMap((name) => [
    '-c',
    `${name}.clean=`,
    '-c',
    `${name}.process=`,
    '-c',
    `${name}.required=false`,
  ])
  const status = ['status', '--porcelain=v2', '-z', '--branch', '--no-ahead-behind', '--ignore-submodules=all']
  return git(checkout, [...off, ...status, '--untracked-files=no', '--', '.'], signal)
}

/**
 * Lists the filters that `git status` could run, as `filter.<name>.<key>`. Only git knows where a repository's
 * configuration is: it may have no `.git`, or keep it in another folder.
 */
export function readFilters(checkout: Checkout, signal?: AbortSignal): Promise<Answer> {
  return git(checkout, ['config', '-z', '--name-only', '--get-regexp', '^filter\\.'], signal)
}
