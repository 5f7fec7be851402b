import { text } from 'node:stream/consumers'
import { openCheckout } from '../../src/review/checkout.ts'
import { openPolicy, requireReadablePolicy } from '../../src/review/policy-source.ts'
import { readReceipts } from '../../src/review/receipt.ts'
import { verifyRange } from '../../src/review/verify.ts'
import { readInput } from './read-input.ts'
import type { InstallFlags } from './review-install.ts'
import { writtenReceipts } from './review-receipts.ts'
import { verdictInWords } from './review-verify.ts'

/** An object id of a reference that is not there (githooks(5), pre-push). */
const NONE = /^0+$/

/**
 * Judges what a push would add to a branch by the receipts of this repository. Git names the references on the standard
 * input. Deleting the branch and creating it are let through.
 *
 * @returns whether the push may go on
 */
export async function judgePush({ branch, policy: policyFile }: InstallFlags): Promise<boolean> {
  const checkout = await openCheckout(process.cwd())
  const lines = (await text(process.stdin)).split('\n').map((line) => line.split(' '))
  let mayGoOn = true
  for (const [, head = '', remote, base = ''] of lines) {
    if (remote !== `refs/heads/${branch}` || NONE.test(head) || NONE.test(base)) continue
    const policy = await openPolicy(checkout, base, policyFile)
    await requireReadablePolicy(checkout, head, policyFile)
    const files = await writtenReceipts(checkout)
    const texts = await Promise.all(files.map((file) => readInput(file, 'The receipt')))
    const receipts = texts.flatMap((content, index) => readReceipts(content, files[index] as string))
    const verdict = await verifyRange(checkout, { base, head }, receipts, policy, new Date())
    if (verdict.passed) continue
    mayGoOn = false
    const range = `${base.slice(0, 10)}..${head.slice(0, 10)}`
    process.stderr.write(`${verdictInWords(verdict)}Read it first: gazeway review ${range}\n`)
  }
  return mayGoOn
}
