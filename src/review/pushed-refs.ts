import { type Checkout, git } from '../context/git-command.ts'

/** Options that push more than the refs that are named. */
const PUSHES_ALL = new Set(['--all', '--branches', '--mirror'])
/** Options with a value of their own. */
const WITH_VALUE = new Set(['-o', '--push-option', '--receive-pack', '--exec', '--repo'])

/**
 * Finds what `git push` would land that is not HEAD. Tags, notes and deletions land nothing.
 *
 * @param args words after `git push`
 * @returns an option or a refspec as it is written; null for none
 */
export async function pushedBesidesHead(checkout: Checkout, args: readonly string[]): Promise<string | null> {
  const all = args.find((arg) => PUSHES_ALL.has(arg))
  if (all !== undefined) return all
  if (args.includes('--delete') || args.includes('-d')) return null
  const [, ...refspecs] = args.filter((arg, at) => !arg.startsWith('-') && !WITH_VALUE.has(args[at - 1] ?? ''))
  if (refspecs.length === 0) return configuredRefs(checkout)
  const head = await commitOf(checkout, 'HEAD')
  for (const refspec of refspecs) {
    const [source, target = source] = refspec.replace(/^\+/, '').split(':') as [string, string?]
    const landsNothing = (source === '' && target !== '') || /^refs\/(notes|tags)\//.test(target)
    if (!landsNothing && (await commitOf(checkout, source)) !== head) return refspec
  }
  return null
}

/** Finds a setting that has a push without refspecs push more than HEAD. */
async function configuredRefs(checkout: Checkout): Promise<string | null> {
  const names = '^(push\\.default|remote\\..*\\.(push|mirror))$'
  const { output } = await git(checkout, ['config', '--get-regexp', names])
  const settings = output.split('\n').filter((line) => /^push\.default matching$|^remote\./.test(line))
  return settings[0] ?? null
}

/** Resolves a name to its commit. Null for an unknown one, and for the empty name, which stands for several branches. */
async function commitOf(checkout: Checkout, name: string): Promise<string | null> {
  if (name === '') return null
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]
  const { output, failure } = await git(checkout, args)
  return failure === null ? output.trim() : null
}
