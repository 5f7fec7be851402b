import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import type { ChangeFlags } from './review-asked-change.ts'
import type { ReviewFlags } from './review-change.ts'
import type { InstallFlags } from './review-install.ts'
import type { KeyFlags } from './review-keys.ts'
import type { SignFlags } from './review-sign.ts'
import type { VerifyFlags } from './review-verify.ts'

const REVIEW_EXAMPLES = `
It opens nothing by itself: the link is for a browser on this machine, and works once. The receipt is written into the folder
of git; nobody has signed it before you do.

Examples:
  $ gazeway review                                 the last commit
  $ gazeway review origin/main..HEAD               what this branch adds to main
  $ gazeway review --staged                        what is staged
  $ gazeway review --patch change.patch            a patch to the last commit
  $ gazeway review --sign ~/.ssh/id_ed25519        signs the receipt at once
  $ gazeway --remote https://gazeway.example.org review      the remote Gazeway observes it, and countersigns
  $ gazeway review change > change.json             its lines as JSON, for other front ends
  $ gazeway review install                         reminds you before a push to main`

const VERIFY_EXAMPLES = `
Exits with 0 when every changed line of the range is in receipts that the policy accepts, and with 1 when not; it then prints
the unread hunks as path:lines. It needs the commits of the range, and neither a store nor a network. Without files it takes the
receipts in the notes of these commits (refs/notes/reviews), and those that trailers of a merge or a squash name.

Examples:
  $ gazeway review verify receipt.json --range HEAD^..HEAD --policy review.json      a squash, fetched with depth 2
  $ gazeway review verify receipts/*.json --range origin/main..HEAD --policy review.json
  $ gazeway review verify --range HEAD^..HEAD --policy review.json      receipts in notes, or named by Gazeway-Review: sha256:…
  $ git notes --ref reviews show HEAD | gazeway review verify - --range HEAD^..HEAD --policy review.json`

const SIGN_EXAMPLES = `
The signature is a plain one, of Ed25519 or ECDSA, which DSSE verifiers read. A key with a passphrase signs through ssh-agent.

Examples:
  $ gazeway review sign receipt.json                                 the only key of ssh-agent that can
  $ gazeway review sign receipt.json --key ~/.ssh/id_ed25519.pub     this key of ssh-agent
  $ gazeway review sign receipt.json --key ~/.ssh/id_ed25519         this key file`

/** Adds `gazeway review` with its commands. */
export function addReviewCommands(program: Command, start: () => Promise<{ loaded: LoadedConfig; log: Log }>): void {
  const review = program
    .command('review')
    .description('read a change in a browser and get a receipt; sign and verify receipts')
    .argument('[base..head]', 'commits to review; the last commit by default')
    .option('--staged', 'review what is staged')
    .option('--patch <file>', 'review a patch to the last commit; - is the standard input')
    .option('--task <id>', 'review the result of a task of this store, to release its reward')
    .option(
      '--checks',
      'ask attention checks: a question, a line to type again and a hunk to mark that is not in the change; they raise no level',
    )
    .option('--reviewer <name>', 'name that the page proposes; the address that you commit with by default')
    .option('--repository <name>', 'name of the repository for policies, such as github.com/acme/shop')
    .option('--out <file>', 'file of the receipt')
    .option('--sign [key]', 'sign it with this private key, or with the only key of ssh-agent')
    .addHelpText('after', REVIEW_EXAMPLES)
    .action(async (range: string | undefined, flags: ReviewFlags) => {
      const { reviewChange } = await import('./review-change.ts')
      if (!(await reviewChange(range, flags, await start()))) process.exitCode = 1
    })
  review
    .command('verify')
    .description('judge a range of commits by review receipts; exits with 1 and the unread hunks if it fails')
    .argument(
      '[receipt...]',
      'files of receipts, JSON or JSON Lines; - is the standard input; by default those in notes of the range and those that its trailers name',
    )
    .requiredOption('--range <base..head>', 'commits that land')
    .option('--policy <file>', 'review policy, read as it was at BASE; review.policy (review.json) by default')
    .option('--json', 'print JSON')
    .addHelpText('after', VERIFY_EXAMPLES)
    .action(async (receipts: string[], flags: VerifyFlags) => {
      const { verifyReceipts } = await import('./review-verify.ts')
      if (!(await verifyReceipts(receipts, flags, start))) process.exitCode = 1
    })
  review
    .command('change')
    .description('print a change as JSON, for POST /api/reviews and as the result of a task with a review')
    .argument('[base..head]', 'commits; the last commit by default')
    .action(async (range: string | undefined, _flags: object, command: Command) => {
      // `gazeway review` has the same options, and takes them.
      const flags = command.optsWithGlobals<ChangeFlags>()
      await (await import('./review-asked-change.ts')).printChange(range, flags)
    })
  addSigning(review, start)
}

/** Adds the commands of signatures, passkeys and hooks. */
function addSigning(review: Command, start: () => Promise<{ loaded: LoadedConfig; log: Log }>): void {
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
    .command('install')
    .description('add a pre-push hook that holds a push until its hunks are in receipts; a reminder, not a gate')
    .option('--branch <name>', 'branch of the remote repository', 'main')
    .option('--policy <file>', 'review policy in the repository', 'review.json')
    .action(async (flags: InstallFlags) => {
      await (await import('./review-install.ts')).installHook(flags)
    })
  review
    .command('pre-push', { hidden: true })
    .description('what the hook of gazeway review install calls')
    .argument('[remote...]', 'name and address of the remote repository, from git')
    .requiredOption('--branch <name>', 'branch of the remote repository')
    .requiredOption('--policy <file>', 'review policy in the repository')
    .action(async (_remote: string[], flags: InstallFlags) => {
      const { judgePush } = await import('./review-pre-push.ts')
      if (!(await judgePush(flags))) process.exitCode = 1
    })
  review
    .command('passkey')
    .description('make a passkey in a browser, and print what a policy enrolls; a review confirmed with it is present')
    .option('--reviewer <name>', 'name that the page proposes')
    .action(async (_flags: object, command: Command) => {
      // `gazeway review` has the same option, and takes it.
      const flags = command.optsWithGlobals<{ reviewer?: string }>()
      const { makeReviewPasskey } = await import('./review-passkey.ts')
      const { log } = await start()
      if (!(await makeReviewPasskey(flags, log))) process.exitCode = 1
    })
  review
    .command('keys')
    .description('list the keys that this gateway countersigns receipts with, as lines of an allowed signers file')
    .option('--name <principal>', 'name of this gateway in policies', 'gateway')
    .option('--of <reviewers...>', 'reviewers whose machine this is: for them it is no other party')
    .option('--rotate', 'sign with a new key from now on')
    .option('--json', 'print JSON')
    .action(async (flags: KeyFlags) => {
      const { loaded } = await start()
      await (await import('./review-keys.ts')).listSigningKeys(loaded, flags)
    })
}
