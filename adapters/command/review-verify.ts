import { resolve } from 'node:path'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Checkout } from '../../src/repository/git-command.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { RECEIPT_NOTES } from '../../src/review/notes.ts'
import { openPolicy, requireReadablePolicy } from '../../src/review/policy-source.ts'
import { type OpenedReceipt, readReceipts } from '../../src/review/receipt.ts'
import { findReceipts, missingAmong, receiptsNamedIn } from '../../src/review/trailers.ts'
import { type Verdict, verifyRange } from '../../src/review/verify.ts'
import { counted } from '../../src/text/plural.ts'
import { plain } from '../../src/text/single-line.ts'
import { readInput } from './read-input.ts'
import { revisionsIn } from './review-range.ts'
import { writtenReceipts } from './review-receipts.ts'

/** Flags of `gazeway review verify`. */
export interface VerifyFlags {
  range: string
  policy?: string
  json?: boolean
}

/**
 * Judges a range of commits by receipts and prints the verdict.
 *
 * @param files of receipts; without any, those in the notes of the range, and those that its trailers name
 * @param start loads the settings, which name the policy where no flag does
 * @returns whether it passed
 */
export async function verifyReceipts(
  files: readonly string[],
  flags: VerifyFlags,
  start: () => Promise<{ loaded: LoadedConfig }>,
): Promise<boolean> {
  const { base, head } = revisionsIn(flags.range, '--range')
  const checkout = await openCheckout(process.cwd())
  const file = flags.policy ?? resolve(checkout.top, (await start()).loaded.config.review.policy)
  const policy = await openPolicy(checkout, base, file)
  await requireReadablePolicy(checkout, head, file)
  const receipts = files.length > 0 ? await receiptsIn(files) : await receiptsOfRange(checkout, { base, head })
  const verdict = await verifyRange(checkout, { base, head }, receipts, policy, new Date())
  process.stdout.write(flags.json ? `${JSON.stringify(verdict, null, 2)}\n` : verdictInWords(verdict))
  return verdict.passed
}

async function receiptsIn(files: readonly string[]): Promise<OpenedReceipt[]> {
  const texts = await Promise.all(files.map((file) => readInput(file, 'The receipt')))
  return texts.flatMap((content, index) => readReceipts(content, files[index] as string))
}

/**
 * Finds the receipts in the notes of a range, and those that its trailers name, in any note and on this machine. Says which are
 * not found, and which notes have something else.
 */
async function receiptsOfRange(checkout: Checkout, range: { base: string; head: string }): Promise<OpenedReceipt[]> {
  const named = await receiptsNamedIn(checkout, range.base, range.head)
  const { digests, ordinary } = named
  const own = await Promise.all((await writtenReceipts(checkout)).map((file) => readInput(file, 'The receipt')))
  const { receipts, faults } = await findReceipts(checkout, named, own)
  const notices = [
    ...ordinary.map(
      (commit) => `${commit.slice(0, 10)}: a Gazeway-Review trailer counts on a merge or a squash alone.`,
    ),
    ...missingAmong(digests, receipts).map(
      (digest) => `sha256:${digest}: no receipt of this digest in ${RECEIPT_NOTES} or on this machine.`,
    ),
    ...faults,
    ...(receipts.length === 0 && digests.size === 0
      ? [`No commit of the range has a receipt in ${RECEIPT_NOTES}, and no merge or squash names one by a trailer.`]
      : []),
  ]
  for (const notice of notices) process.stderr.write(`${notice}\n`)
  return receipts
}

/** Describes a verdict: unread parts, receipts that do not count, and the end. */
export function verdictInWords({ passed, parts, items, unread, reviewers, refused }: Verdict): string {
  const lines = unread.map(({ place, reason }) => `${place}: ${reason}`)
  const refusals = refused.map(({ reviewer, reason }) => `The receipt of ${plain(reviewer)} does not count: ${reason}.`)
  const readers = reviewers.length === 0 ? 'nobody' : plain(reviewers.join(', '))
  const kinds = [[parts - items, 'hunk'] as const, [items, 'item'] as const].filter(([count]) => count > 0)
  const whole = kinds.map(([count, noun]) => counted(count, noun)).join(' and ') || 'nothing'
  const end = passed ? `Passed: ${whole}, read by ${readers}.` : `Failed: ${unread.length} unread of ${whole}.`
  return `${[...lines, ...refusals, end].join('\n')}\n`
}
