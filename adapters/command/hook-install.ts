import { mkdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { GazewayError } from '../../src/errors.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { replaceFile } from '../../src/store/replace-file.ts'
import { nullIfMissing } from '../../src/text/missing-file.ts'
import { hooksFolder } from './hooks-folder.ts'

const MARK = '# Written by: gazeway hook install. Remove this line and the next one to undo it.'

/** Hook that notes commits: its name, when it is skipped, and the message once it is written. */
interface NotingHook {
  name: 'post-commit' | 'post-rewrite'
  /** Shell that says when it does not run. */
  unless: string
  said: string
}

/** A rebase makes each commit again: they are noted once at its end, when the earlier ones are gone. */
const HOOKS: readonly NotingHook[] = [
  {
    name: 'post-commit',
    unless: '[ -e "$(git rev-parse --git-path rebase-merge)" ]',
    said: 'each commit is noted for the session that made it',
  },
  { name: 'post-rewrite', unless: '[ "$1" != rebase ]', said: 'what commits cost stays with them after a rebase' },
]

/** Runs wherever gazeway is installed, and never fails a commit. */
const lineOf = ({ unless }: NotingHook): string =>
  `! command -v gazeway >/dev/null || ${unless} || gazeway hook post-commit </dev/null >/dev/null 2>&1 || true`

/** First line of a script that a POSIX shell runs. */
const OF_SHELL = /^#!.*\b(?:ba|da|z|k)?sh\b.*\n/

/**
 * Has git note each commit for the session that made it, by hooks after a commit and after a rebase. A hook that is there
 * already keeps its lines and runs after it.
 *
 * @throws GazewayError `conflict` where a hook is no shell script; nothing is written, and what to add to it is named
 */
export async function installHooks(): Promise<void> {
  const folder = await hooksFolder(await openCheckout(process.cwd()))
  const writes = await Promise.all(HOOKS.map((hook) => planned(folder, hook)))
  for (const write of writes) process.stdout.write(await write())
}

/** Plans to write a hook. @returns what writes it, and says so */
async function planned(folder: string, hook: NotingHook): Promise<() => Promise<string>> {
  const file = join(folder, hook.name)
  const shown = relative(process.cwd(), file)
  const present = await readFile(file, 'utf8').catch(nullIfMissing)
  if (present?.includes(MARK)) return async () => `${shown} notes commits already.\n`
  const [shebang] = present === null ? ['#!/bin/sh\n'] : (OF_SHELL.exec(present) ?? [])
  if (shebang === undefined)
    throw new GazewayError('conflict', `There is another hook at ${file}. Have it run: gazeway hook post-commit`)
  const mode = present === null ? 0o755 : (await stat(file)).mode | 0o111
  const rest = present?.slice(shebang.length) ?? ''
  return async () => {
    await mkdir(folder, { recursive: true })
    await replaceFile(file, `${shebang}${MARK}\n${lineOf(hook)}\n${rest}`, { like: { mode } })
    return `Wrote ${shown}: ${hook.said}.\n`
  }
}
