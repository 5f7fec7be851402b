import { GazewayError } from '../../src/errors.ts'
import type { Checkout } from '../../src/repository/git-command.ts'
import { readChange } from '../../src/review/change.ts'
import type { Change } from '../../src/review/change-parts.ts'
import { askGit, openCheckout } from '../../src/review/checkout.ts'
import { readPatched, readStaged } from '../../src/review/uncommitted.ts'
import { readInput } from './read-input.ts'
import { revisionsIn } from './review-range.ts'

/** Flags that name a change beside a range. */
export interface ChangeFlags {
  staged?: boolean
  patch?: string
}

/** Prints a change as JSON, as `POST /api/reviews` and the result of a task take it. */
export async function printChange(range: string | undefined, flags: ChangeFlags): Promise<void> {
  process.stdout.write(`${JSON.stringify(await askedChange(await openCheckout(process.cwd()), range, flags))}\n`)
}

/** Reads the change that is asked for: a range, by default the last commit, what is staged, or a patch. */
export async function askedChange(
  checkout: Checkout,
  range: string | undefined,
  { staged, patch }: ChangeFlags,
): Promise<Change> {
  if ([range, staged, patch].filter((one) => one !== undefined).length > 1)
    throw new GazewayError('validation_failed', 'Name one change: BASE..HEAD, --staged or --patch.', {
      param: '--patch',
    })
  if (staged) return readStaged(checkout)
  if (patch !== undefined) return readPatched(checkout, await readInput(patch, 'The patch'))
  const { base, head } = revisionsIn(range ?? 'HEAD^..HEAD', 'BASE..HEAD')
  // What the base gained since the branch left it is no part of the change.
  const fork = await askGit(checkout, ['merge-base', '--end-of-options', base, head])
  return readChange(checkout, fork.toString('latin1').trim(), head)
}
