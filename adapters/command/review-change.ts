import { join, relative, resolve } from 'node:path'
import * as z from 'zod'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { type Checkout, git } from '../../src/repository/git-command.ts'
import { readChange } from '../../src/review/change.ts'
import type { Change } from '../../src/review/change-parts.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { CHECK_KINDS } from '../../src/review/checks.ts'
import { fileKindOf } from '../../src/review/file-kind.ts'
import { isNamedBy, NamedCommit } from '../../src/review/named-change.ts'
import type { Policy } from '../../src/review/policy.ts'
import { openPolicy } from '../../src/review/policy-source.ts'
import { openReceipt, type Receipt } from '../../src/review/receipt.ts'
import { trailerOf } from '../../src/review/trailers.ts'
import { makeFolder } from '../../src/store/make-folder.ts'
import { replaceFile } from '../../src/store/replace-file.ts'
import type { Task } from '../../src/tasks/task-record.ts'
import { counted } from '../../src/text/plural.ts'
import { plain } from '../../src/text/single-line.ts'
import { consoleFiles, consoleFolder, webcamFiles } from '../console/files.ts'
import { OWN_DOMAIN } from '../review/serve-enrolment.ts'
import { serveReview } from '../review/serve-review.ts'
import { askedChange, type ChangeFlags } from './review-asked-change.ts'
import { receiptFolder } from './review-receipts.ts'
import { signReceipt } from './review-sign.ts'
import { openReviewSource } from './review-source.ts'
import { untilStopped } from './stop-signals.ts'

/** Flags of `gazeway review`. */
export interface ReviewFlags extends ChangeFlags {
  /** Task whose result is reviewed: its result names the commits. */
  task?: string
  out?: string
  /** Asks attention checks at the decision. */
  checks?: boolean
  reviewer?: string
  repository?: string
  /** File of a key, or true for the only key of ssh-agent. */
  sign?: string | true
}

/** Caller of reviews that are begun by the command. It is the id of no key. */
const CALLER = 'gazeway-review'

/**
 * Serves the page of a change until it is decided, then writes the receipt and says where it is.
 *
 * @returns whether there was a decision
 */
export async function reviewChange(
  range: string | undefined,
  flags: ReviewFlags,
  { loaded, log }: { loaded: LoadedConfig; log: Log },
): Promise<boolean> {
  const folder = consoleFolder()
  if (folder === null)
    throw new GazewayError('not_found', 'The page was not built into this copy. Build it with: npm run build.')
  const checkout = await openCheckout(process.cwd())
  const source = await openReviewSource(loaded, log)
  try {
    const { reviews } = source
    const task = flags.task === undefined ? null : await source.task(flags.task)
    const change = await (task === null ? askedChange(checkout, range, flags) : deliveredBy(task, checkout))
    if (change.parts.length === 0)
      throw new GazewayError('not_found', 'There is nothing to review: both sides are equal.')
    const policy = await policyFor(checkout, change, loaded.config.review.policy)
    const content = {
      ...change,
      repository: flags.repository ?? null,
      policy: policy?.digest ?? null,
      task_id: task?.id ?? null,
      checks: flags.checks ? [...CHECK_KINDS] : [],
    }
    // Whoever may open the store may act for the one who pays.
    const callerId = task?.creator ?? CALLER
    const { id } = await reviews.create(content, callerId)
    const reviewer = flags.reviewer ?? (await emailIn(checkout))
    const passkeys = policy?.passkeys.filter(({ rp_id }) => rp_id === OWN_DOMAIN) ?? []
    const shown = { id, callerId, reviewer, title: titleOf(change), passkeys, verify: source.verify }
    const page = await serveReview(reviews, shown, new Map([...consoleFiles(folder), ...webcamFiles()]), log)
    process.stdout.write(`${introduction(change, page.url, source.observer)}\n`)
    const receipt = (await Promise.race([page.decided, untilStopped()])) ?? page.receipt()
    await page.close()
    if (receipt === null) return false
    const handed = { file: await fileFor(checkout, change, id, flags), hasPolicy: policy !== null }
    await hand(receipt, change, flags, { ...handed, policy: loaded.config.review.policy })
    if (task !== null)
      process.stdout.write(`For the reward: release escrow ${task.escrow_id} with attestation_id ${id}.\n`)
    return true
  } finally {
    await source.close()
  }
}

/**
 * Reads the change between the commits that a task's result names.
 *
 * @throws GazewayError `validation_failed` without commits, and where their change is another than the result says
 */
async function deliveredBy({ id, result }: Task, checkout: Checkout): Promise<Change> {
  const refused = (why: string) =>
    new GazewayError('validation_failed', `The result of ${id} ${why}`, { param: '--task' })
  const named = z.object({ base: NamedCommit, head: NamedCommit }).safeParse(result)
  if (!named.success) throw refused('names no commits: it needs base and head, with full ids.')
  const change = await readChange(checkout, named.data.base, named.data.head)
  if (isNamedBy(result, change)) return change
  throw refused(`names another change than that of its commits, which is ${change.digest}.`)
}

/** Opens the policy in force. Null for a repository without one. */
function policyFor(checkout: Checkout, { base }: Change, path: string): Promise<Policy | null> {
  return openPolicy(checkout, base.commit, resolve(checkout.top, path)).catch((error) => {
    if (error instanceof GazewayError && error.code === 'not_found') return null
    throw error
  })
}

/** Reads the address that the person commits with. */
async function emailIn(checkout: Checkout): Promise<string | null> {
  const { output } = await git(checkout, ['config', '--get', 'user.email'])
  return output.trim() || null
}

const titleOf = ({ base, head }: Change): string =>
  `${base.commit.slice(0, 10)} … ${head.commit?.slice(0, 10) ?? 'not committed'}`

const linesIn = (parts: Change['parts']): number => parts.reduce((sum, part) => sum + part.lines, 0)

function introduction({ parts }: Change, url: string, observer: string | null): string {
  const lines = linesIn(parts)
  const files = new Set(parts.map(({ path }) => path)).size
  const byTools = linesIn(parts.filter(({ path }) => fileKindOf(path) !== null))
  const apart = byTools === 0 ? '' : ` (${byTools} of them in lock and generated files)`
  return (
    `${counted(lines, 'changed line')} in ${counted(files, 'file')}${apart}. Open this link in a browser on this machine; it works once:\n\n` +
    `  ${url}\n\n${observer === null ? '' : `${observer} observes it. `}This command ends with your decision. Ctrl+C ends it without one.`
  )
}

/** Names the file of the receipt: by default one in the folder of git, so that it is in nobody's way. */
async function fileFor(checkout: Checkout, { head }: Change, id: string, { out }: ReviewFlags): Promise<string> {
  if (out !== undefined) return out
  const folder = await receiptFolder(checkout)
  makeFolder(folder)
  return join(folder, `${(head.commit ?? head.tree).slice(0, 12)}-${id.slice(-8)}.json`)
}

/** File of a receipt, and the policy that judges it. */
interface Handed {
  file: string
  /** Path of the policy. */
  policy: string
  /** False where the repository has none there. */
  hasPolicy: boolean
}

/** Writes the receipt, signs it if that is asked, and prints what to do with it. */
async function hand(
  receipt: Receipt,
  { base, head }: Change,
  { sign }: ReviewFlags,
  { file, policy, hasPolicy }: Handed,
): Promise<void> {
  await replaceFile(file, `${JSON.stringify(receipt)}\n`)
  const name = relative(process.cwd(), file)
  const { review, payload } = openReceipt(receipt, name)
  const { reviewer, decision, coverage, level } = review
  const read = `${plain(reviewer.id)}: ${decision}, ${coverage.seen} of ${coverage.lines} lines seen, level ${level}.`
  if (sign === undefined)
    process.stdout.write(`\n${read}\nThe receipt: ${name}\nSign it:     gazeway review sign ${name}\n`)
  else {
    process.stdout.write(`\nThe receipt: ${name}\n`)
    await signReceipt(file, sign === true ? {} : { key: sign })
  }
  const range = head.commit === null ? 'HEAD^..HEAD' : `${base.commit.slice(0, 10)}..${head.commit.slice(0, 10)}`
  const once = head.commit === null ? ' (once it is committed)' : ''
  process.stdout.write(`Verify it:   gazeway review verify ${name} --range ${range} --policy ${policy}${once}\n`)
  if (!hasPolicy)
    process.stdout.write(`Before that: write ${policy}, which says whose receipts count; this repository has none.\n`)
  process.stdout.write(`In a merge or a squash, name it: ${trailerOf(payload)}\n`)
}
