import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { fileSigner } from '../../src/signing/signer.ts'
import { CLI, newPlace, type Place } from '../e2e/server.ts'
import { lineOf } from '../review/people.ts'
import { createRepository } from '../review/repository.ts'
import { said } from './full-browser.ts'

/** A repository whose last commit is to be reviewed, and a person with a key who may sign. */
export function createReviewed(t: TestContext, files: Record<string, string>) {
  const repository = createRepository(t)
  const place = { ...newPlace(), project: repository.root }
  const key = join(place.home, 'key.pem')
  const { privateKey } = generateKeyPairSync('ed25519')
  writeFileSync(key, privateKey.export({ format: 'pem', type: 'pkcs8' }))
  const signer = fileSigner(readFileSync(key, 'utf8'))
  repository.commitFiles({
    'review.json': JSON.stringify({ version: 1, allowed_signers: 'allowed_signers', level: 'seen', coverage: 1 }),
    allowed_signers: lineOf({ name: 'ann@example.org', signer }),
  })
  repository.commitFiles(files)
  return { ...repository, place, key }
}

/** Starts `gazeway review` and waits for its link. */
export async function startReview(t: TestContext, { project, env }: Place, args: string[] = []) {
  const child = spawn(process.execPath, [CLI, 'review', ...args], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const printed = [text(child.stdout), text(child.stderr)]
  const ended = once(child, 'exit').then(async ([code]) => ({ code, printed: (await Promise.all(printed)).join('') }))
  return {
    url: await said(child.stdout, /http:\/\/localhost:\d+\/#\S+/),
    ended,
    kill: () => void child.kill('SIGKILL'),
  }
}

/** Decides by the keyboard. */
export async function decide(page: Page, answer: string): Promise<void> {
  await page.keyboard.press('d')
  await page.getByRole('radio', { name: answer }).check()
  await page.getByRole('dialog').getByRole('button', { name: answer }).press('Enter')
  await page.getByText('Decided').waitFor()
}
