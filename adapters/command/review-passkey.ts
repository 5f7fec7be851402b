import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { consoleFiles, consoleFolder } from '../console/files.ts'
import { serveEnrolment } from '../review/serve-enrolment.ts'
import { untilStopped } from './stop-signals.ts'

/**
 * Serves a page that makes a passkey, then prints what a policy has to enroll. Nothing is kept here.
 *
 * @returns whether one was made
 */
export async function makeReviewPasskey({ reviewer }: { reviewer?: string }, log: Log): Promise<boolean> {
  const folder = consoleFolder()
  if (folder === null)
    throw new GazewayError('not_found', 'The page was not built into this copy. Build it with: npm run build.')
  const page = await serveEnrolment(reviewer ?? null, consoleFiles(folder), log)
  process.stdout.write(`Open this link in a browser on this machine; it works once:\n\n  ${page.url}\n\n`)
  const passkey = await Promise.race([page.made, untilStopped()])
  await page.close()
  if (passkey === null) return false
  process.stdout.write(`Add it to "passkeys" in the review policy:\n\n${JSON.stringify(passkey, null, 2)}\n`)
  return true
}
