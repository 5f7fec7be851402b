import { type Checkout, git } from '../repository/git-command.ts'

/** Options of `git push` that land nothing else, and take no value but an attached one. `--no-` turns each off. */
const FLAGS = new Set(
  (
    'atomic delete dry-run follow-tags force force-if-includes force-with-lease ipv4 ipv6 porcelain progress prune quiet ' +
    'set-upstream signed tags thin verbose verify'
  ).split(' '),
)
const SHORT_FLAGS = new Set('dfnquv46')

/** Words of a push, as git reads them. */
interface Push {
  /** The repository, then refspecs. */
  operands: string[]
  isDeletion: boolean
  /** First option that is not known to land nothing else; null for none. */
  more: string | null
}

/**
 * Finds what `git push` would land that is not HEAD. Tags, notes and deletions land nothing.
 *
 * @param args words after `git push`
 * @returns an option, a refspec or a setting as it is written; null for none
 */
export async function pushedBesidesHead(checkout: Checkout, args: readonly string[]): Promise<string | null> {
  const { operands, isDeletion, more } = pushIn(args)
  if (more !== null) return more
  if (isDeletion) return null
  const [, ...refspecs] = operands
  const setting = await settingIn(checkout, refspecs.length === 0 ? WITHOUT_REFSPECS : ALWAYS)
  if (setting !== null) return setting
  const head = await commitOf(checkout, 'HEAD')
  for (const refspec of refspecs) {
    const [source, target = source] = refspec.replace(/^\+/, '').split(':') as [string, string?]
    const landsNothing = (source === '' && target !== '') || /^refs\/(notes|tags)\//.test(target)
    if (!landsNothing && (await commitOf(checkout, source)) !== head) return refspec
  }
  return null
}

/** Reads the words of a push. Any option that is not known as it is written may land more: git takes abbreviated ones. */
function pushIn(args: readonly string[]): Push {
  const push: Push = { operands: [], isDeletion: false, more: null }
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string
    if (word === '--') {
      push.operands.push(...args.slice(at + 1))
      break
    }
    if (!word.startsWith('-')) push.operands.push(word)
    else if (word.startsWith('--')) at += readLong(push, word)
    else at += readShort(push, word)
  }
  return push
}

/** Reads an option. @returns how many words after it are its value */
function readLong(push: Push, word: string): number {
  const [, not = '', name = '', value] = /^--(no-)?([^=]+)(?:=(.*))?$/s.exec(word) ?? []
  if (name === 'delete') push.isDeletion = not === ''
  if (FLAGS.has(name) || /^--recurse-submodules=(check|no)$/.test(word)) return 0
  if (name !== 'push-option') push.more ??= word
  return not === '' && value === undefined ? 1 : 0
}

/** Reads options of one letter. `o` has a value: what follows it, or else the next word. */
function readShort(push: Push, word: string): number {
  const letters = [...word.slice(1)]
  for (const [at, letter] of letters.entries()) {
    if (letter === 'o') return at === letters.length - 1 ? 1 : 0
    if (letter === 'd') push.isDeletion = true
    else if (!SHORT_FLAGS.has(letter)) push.more ??= word
  }
  return 0
}

/** Settings that have any push land more than HEAD, and those for a push without refspecs. */
const ALWAYS = /^(push\.recursesubmodules (on-demand|only)|remote\..*\.mirror )/
const WITHOUT_REFSPECS = /^(push\.(recursesubmodules (on-demand|only)|default matching)$|remote\.)/

async function settingIn(checkout: Checkout, landsMore: RegExp): Promise<string | null> {
  const names = '^(push\\.(default|recursesubmodules)|remote\\..*\\.(push|mirror))$'
  const { output } = await git(checkout, ['config', '--get-regexp', names])
  return output.split('\n').find((line) => landsMore.test(line)) ?? null
}

/** Resolves a name to its commit. Null for an unknown one, and for the empty name, which stands for several branches. */
async function commitOf(checkout: Checkout, name: string): Promise<string | null> {
  if (name === '') return null
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]
  const { output, failure } = await git(checkout, args)
  return failure === null ? output.trim() : null
}
