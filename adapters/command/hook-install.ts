import { mkdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { GazewayError } from '../../src/errors.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { replaceFile } from '../../src/store/replace-file.ts'
import { nullIfMissing } from '../../src/text/missing-file.ts'
import { hooksFolder } from './hooks-folder.ts'

const MARK = '# Written by: gazeway hook install. Remove this line and the next one to undo it.'
/** Runs wherever gazeway is installed, and never fails a commit. */
const LINE = '! command -v gazeway >/dev/null || gazeway hook post-commit </dev/null >/dev/null 2>&1 || true'

/** First line of a script that a POSIX shell runs. */
const OF_SHELL = /^#!.*\b(?:ba|da|z|k)?sh\b.*\n/

/**
 * Has git note each commit for the session that made it, by a post-commit hook. A hook that is there already keeps its
 * lines and runs after it.
 *
 * @throws GazewayError `conflict` where the hook is no shell script; the line to add to it is named
 */
export async function installPostCommit(): Promise<void> {
  const folder = await hooksFolder(await openCheckout(process.cwd()))
  const file = join(folder, 'post-commit')
  const shown = relative(process.cwd(), file)
  const present = await readFile(file, 'utf8').catch(nullIfMissing)
  if (present?.includes(MARK)) return void process.stdout.write(`${shown} notes commits already.\n`)
  const [shebang] = present === null ? ['#!/bin/sh\n'] : (OF_SHELL.exec(present) ?? [])
  if (shebang === undefined)
    throw new GazewayError('conflict', `There is another hook at ${file}. Have it run: gazeway hook post-commit`)
  const mode = present === null ? 0o755 : (await stat(file)).mode | 0o111
  await mkdir(folder, { recursive: true })
  const rest = present?.slice(shebang.length) ?? ''
  await replaceFile(file, `${shebang}${MARK}\n${LINE}\n${rest}`, { like: { mode } })
  process.stdout.write(`Wrote ${shown}: each commit is noted for the session that made it.\n`)
}
