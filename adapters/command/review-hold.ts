import { existsSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import type { LoadedConfig } from '../../src/config/config.ts'
import { GazewayError } from '../../src/errors.ts'
import { type Checkout, git } from '../../src/repository/git-command.ts'
import { authenticate } from '../../src/review/authenticate-receipt.ts'
import { askGit, openCheckout } from '../../src/review/checkout.ts'
import { writtenOut } from '../../src/review/git-aliases.ts'
import { commandsIn, type HeldCommand, heldCommand, USUALLY_HELD } from '../../src/review/held-command.ts'
import type { Policy } from '../../src/review/policy.ts'
import { openPolicy } from '../../src/review/policy-source.ts'
import { pushedBesidesHead } from '../../src/review/pushed-refs.ts'
import { type OpenedReceipt, readReceipts } from '../../src/review/receipt.ts'
import { withoutPrefixes } from '../../src/review/shell-command.ts'
import { systemPath } from '../../src/review/shell-path.ts'
import { verifyRange } from '../../src/review/verify.ts'
import { gatewayKeys } from '../../src/signing/gateway-keys.ts'
import { readInput } from './read-input.ts'
import { writtenReceipts } from './review-receipts.ts'
import { verdictInWords } from './review-verify.ts'

/** Revisions to compare HEAD with: the branch of the remote that others read, else the one that is followed. */
const BASES = ['refs/remotes/origin/HEAD', 'refs/remotes/origin/main', 'refs/remotes/origin/master', '@{upstream}']

/**
 * Says why a command has to wait for a review; null where it may run.
 *
 * A decision counts here with an enrolled passkey, or by an observer that the policy trusts and that is not the gateway of
 * this account: what runs here can use every key of this account.
 *
 * @param folder in which the command would run
 * @throws GazewayError for a held command, where the policy or the change cannot be read
 */
export async function holdFor(command: string, folder: string, loaded: LoadedConfig): Promise<string | null> {
  for (const place of foldersIn(command, folder)) {
    const reason = await holdIn(place, command, loaded)
    if (reason !== null) return reason
  }
  return null
}

/** Lists the folders that a line may run commands in: the first one, and those that `cd` and `git -C` name. */
function foldersIn(line: string, folder: string): Set<string> {
  const commands = commandsIn(line).map((command) => withoutPrefixes(command).map(expanded))
  // A `cd` that fails leaves the next command where it was.
  const bases = [folder]
  for (const [program, target] of commands)
    if (program === 'cd' && target !== undefined) bases.push(resolve(bases.at(-1) as string, target))
  const inOthers = commands
    .map(([, ...words]) => words.filter((_, at) => words[at - 1] === '-C'))
    .filter(({ length }) => length > 0)
  // Git goes through links one by one, where a shell takes `..` for the folder's name.
  const reached = bases.flatMap((base) =>
    inOthers.map((targets) =>
      targets.reduce((from, target) => (isAbsolute(target) ? target : `${from}/${target}`), base),
    ),
  )
  return new Set([...bases, ...reached].map((place) => existingAbove(place)))
}

/**
 * Finds the folder that a line may make others in: `mkdir -p ../shop/x && cd ../shop/x`. Without any it is the top one, such
 * as that of a drive that is not there.
 */
export function existingAbove(folder: string, exists = existsSync, above = dirname): string {
  const next = above(folder)
  return next === folder || exists(folder) ? folder : existingAbove(next, exists, above)
}

const expanded = ({ text }: { text: string }): string => systemPath(text)

async function holdIn(folder: string, command: string, loaded: LoadedConfig): Promise<string | null> {
  try {
    const checkout = await openCheckout(folder)
    const base = await baseOf(checkout)
    const policy = await policyAt(checkout, base ?? 'HEAD', loaded)
    if (!policy || policy.hold.length === 0) return null
    const held = heldCommand(await writtenOut(checkout, command), policy.hold)
    if (held === null) return null
    if (held.besides !== null) return notPlain(held.name, held.besides, held.isItself)
    if (base === null)
      return `${held.name} is held until its change is reviewed, and there is no branch of origin to compare with.`
    return (
      (await otherThanHead(checkout, held)) ??
      (await unreviewed(checkout, { held: held.name, base, policy }, loaded.dataDir))
    )
  } catch (error) {
    // Nobody can tell what the policy holds: no reason to stop anything else.
    if (heldCommand(command, USUALLY_HELD) === null || isNoRepository(error)) return null
    throw error
  }
}

/** The hook judges HEAD before the line runs, so that a commit in the same line would pass with it. */
const notPlain = (held: string, part: string, isItself: boolean): string =>
  `${held} is held by the review policy, which judges HEAD before the line runs` +
  (isItself
    ? `, and what this would land is not plain: ${part}. Write it without settings, variables and other programs, such as: ${held}`
    : `. Run the other part first, without ${held}: ${part}. Have what it commits reviewed, then run ${held} as a command of its own.`)

async function otherThanHead(checkout: Checkout, { name, args }: HeldCommand): Promise<string | null> {
  const other = name.startsWith('git push') ? await pushedBesidesHead(checkout, args) : null
  if (other === null) return null
  return `${name} is held by the review policy, which judges HEAD, and ${other} is not HEAD. Check out what you push, and push HEAD.`
}

const isNoRepository = (error: unknown): boolean =>
  error instanceof GazewayError && error.code === 'not_found' && error.message.endsWith('is in no git repository.')

async function baseOf(checkout: Checkout): Promise<string | null> {
  for (const name of BASES) {
    const { output, failure } = await git(checkout, ['rev-parse', '--verify', '--quiet', '--end-of-options', name])
    if (failure === null) return output.trim()
  }
  return null
}

/** Opens the policy as it was at the base, or a file of the operator. Null where there is none. */
function policyAt(checkout: Checkout, base: string, { config }: LoadedConfig): Promise<Policy | null> {
  const file = resolve(checkout.top, config.review.policy)
  return openPolicy(checkout, base, file).catch((error) => {
    // A policy whose files are missing is one all the same.
    if (error instanceof GazewayError && error.message.startsWith(`${file} was not read (ENOENT)`)) return null
    throw error
  })
}

async function unreviewed(
  checkout: Checkout,
  { held, base, policy }: { held: string; base: string; policy: Policy },
  dataDir: string,
): Promise<string | null> {
  const fork = (await askGit(checkout, ['merge-base', '--end-of-options', base, 'HEAD'])).toString('latin1').trim()
  const now = new Date()
  const own = (await gatewayKeys(dataDir, now)).map(({ public_key }) => public_key.split(' ')[1] ?? '')
  const receipts = (await storedReceipts(checkout)).filter((receipt) => isWitnessed(receipt, policy, own, now))
  const verdict = await verifyRange(checkout, { base: fork, head: 'HEAD' }, receipts, policy, now)
  if (verdict.passed) return null
  const range = `${fork.slice(0, 10)}..HEAD`
  return (
    `${held} is held by the review policy. ${verdictInWords(verdict).trim()}\n` +
    `A person reads it first: gazeway review ${range}. It counts with a passkey that the policy enrolls, or observed by a ` +
    'gateway of another account (gazeway --remote URL review). Ask for it, and look for no way around.'
  )
}

async function storedReceipts(checkout: Checkout): Promise<OpenedReceipt[]> {
  const files = await writtenReceipts(checkout)
  const texts = await Promise.all(files.map((file) => readInput(file, 'The receipt')))
  return texts.flatMap((content, index) => readReceipts(content, files[index] as string))
}

/** @param own keys of the gateway of this account, base64 */
function isWitnessed(receipt: OpenedReceipt, policy: Policy, own: readonly string[], now: Date): boolean {
  const found = authenticate(receipt, policy, now)
  if (typeof found === 'string') return false
  const { passkey, observer } = found.witness
  return passkey || (observer !== null && !own.includes(observer))
}
