import { mkdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { GazewayError } from '../../src/errors.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { replaceFile } from '../../src/store/replace-file.ts'
import { nullIfMissing } from '../../src/text/missing-file.ts'
import { hooksFolder } from './hooks-folder.ts'

/** Flags of `gazeway review install`. */
export interface InstallFlags {
  branch: string
  policy: string
}

const MARK = '# Written by: gazeway review install. Remove this file to push without it.'

/** Names that need no quotes in a shell. */
const PLAIN = /^[\w][\w./-]*$/

/**
 * Adds a hook to the repository that holds a push to a branch until each hunk of it is in a receipt.
 *
 * @throws GazewayError `conflict` where there is another hook; the line to add to it is named
 */
export async function installHook({ branch, policy }: InstallFlags): Promise<void> {
  for (const [flag, value] of [['--branch', branch] as const, ['--policy', policy] as const])
    if (!PLAIN.test(value))
      throw new GazewayError('validation_failed', `${flag}: must have letters, digits, and . _ / - only.`, {
        param: flag,
      })
  const checkout = await openCheckout(process.cwd())
  const folder = await hooksFolder(checkout)
  const file = join(folder, 'pre-push')
  const line = `gazeway review pre-push --branch ${branch} --policy ${policy} "$@"`
  const present = await readFile(file, 'utf8').catch(nullIfMissing)
  if (present !== null && !present.includes(MARK))
    throw new GazewayError('conflict', `There is another hook at ${file}. Add this line to it: ${line} || exit 1`)
  await mkdir(folder, { recursive: true })
  await replaceFile(file, `#!/bin/sh\n${MARK}\nexec ${line}\n`, { like: { mode: 0o755 } })
  process.stdout.write(
    `Wrote ${relative(process.cwd(), file)}: pushes to ${branch} need receipts that ${policy} accepts.\n` +
      'It is a reminder on this machine: git push --no-verify passes it by. A gate is a check on a server.\n',
  )
}
