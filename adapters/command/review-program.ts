import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { SignFlags } from './review-sign.ts'
import type { VerifyFlags } from './review-verify.ts'

const VERIFY_EXAMPLES = `
Exits with 0 when every changed line of the range is in receipts that the policy accepts, and with 1 when not; it then prints
the unread hunks as path:lines. It needs the commits of the range, and neither a store nor a network.

Examples:
  $ gazeway review verify receipt.json --range HEAD^..HEAD --policy review.json      a merge or a squash, fetched with depth 2
  $ gazeway review verify receipts/*.json --range origin/main..HEAD --policy review.json
  $ git notes --ref reviews show HEAD | gazeway review verify - --range HEAD^..HEAD --policy review.json`

const SIGN_EXAMPLES = `
The signature is a plain one, of Ed25519 or ECDSA, which DSSE verifiers read. A key with a passphrase signs through ssh-agent.

Examples:
  $ gazeway review sign receipt.json                                 the only key of ssh-agent that can
  $ gazeway review sign receipt.json --key ~/.ssh/id_ed25519.pub     this key of ssh-agent
  $ gazeway review sign receipt.json --key ~/.ssh/id_ed25519         this key file`

/** Adds `gazeway review` with its commands. */
export function addReviewCommands(program: Command, start: () => Promise<{ loaded: LoadedConfig }>): void {
  const review = program
    .command('review')
    .description('sign and verify receipts of reviews, and list the keys that countersign them')
  review
    .command('verify')
    .description('judge a range of commits by review receipts; exits with 1 and the unread hunks if it fails')
    .argument('<receipt...>', 'files of receipts, JSON or JSON Lines; - is the standard input')
    .requiredOption('--range <base..head>', 'commits that land')
    .requiredOption('--policy <file>', 'review policy; one of the repository is read as it was at BASE')
    .option('--json', 'print JSON')
    .addHelpText('after', VERIFY_EXAMPLES)
    .action(async (receipts: string[], flags: VerifyFlags) => {
      const { verifyReceipts } = await import('./review-verify.ts')
      if (!(await verifyReceipts(receipts, flags))) process.exitCode = 1
    })
  review
    .command('sign')
    .description('sign a receipt as its reviewer, with an SSH key')
    .argument('<receipt>', 'file of the receipt, which is rewritten')
    .option('--key <file>', 'private key, or the public key of one in ssh-agent')
    .addHelpText('after', SIGN_EXAMPLES)
    .action(async (file: string, flags: SignFlags) => {
      await (await import('./review-sign.ts')).signReceipt(file, flags)
    })
  review
    .command('keys')
    .description('list the keys that this gateway countersigns receipts with, as lines of an allowed signers file')
    .option('--name <principal>', 'name of this gateway in policies', 'gateway')
    .option('--rotate', 'sign with a new key from now on')
    .option('--json', 'print JSON')
    .action(async (flags: { name: string; rotate?: boolean; json?: boolean }) => {
      const { loaded } = await start()
      await (await import('./review-keys.ts')).listSigningKeys(loaded, flags)
    })
}
