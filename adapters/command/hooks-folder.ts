import { join, resolve } from 'node:path'
import { type Checkout, git } from '../../src/repository/git-command.ts'
import { commonFolder } from './review-receipts.ts'

/** Finds the folder of hooks, wherever the configuration has it. Git is run here with hooks off, so it cannot say so itself. */
export async function hooksFolder(checkout: Checkout): Promise<string> {
  for (const scope of ['--local', '--global']) {
    const { output } = await git(checkout, ['config', scope, '--type=path', '--get', 'core.hooksPath'])
    if (output.trim() !== '') return resolve(checkout.top, output.trim())
  }
  return join(await commonFolder(checkout), 'hooks')
}
