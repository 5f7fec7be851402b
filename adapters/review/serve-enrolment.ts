import * as z from 'zod'
import type { Log } from '../../src/config/log.ts'
import { LOCALHOST, Passkey } from '../../src/signing/webauthn.ts'
import type { ConsoleFile } from '../console/files.ts'
import { bodyOf, type ServedPage, servePage } from './serve-page.ts'

/** Domain of the passkeys of this machine. */
export const OWN_DOMAIN = 'localhost'

const Made = Passkey.pick({ credential_id: true, public_key: true }).extend({ reviewer: z.string().min(1).max(256) })

/** Serves a page that makes a passkey for reviews on this machine. `made` resolves with what a policy has to enroll. */
export async function serveEnrolment(
  reviewer: string | null,
  files: ReadonlyMap<string, ConsoleFile>,
  log: Log,
): Promise<ServedPage & { made: Promise<Passkey> }> {
  let onMade: (passkey: Passkey) => void = () => {}
  const made = new Promise<Passkey>((resolve) => {
    onMade = resolve
  })
  const page = await servePage({ files, log, opened: { id: null, reviewer } }, (app) => {
    app.post('/api/passkeys', async (c) => {
      const passkey = { ...(await bodyOf(c, Made)), rp_id: OWN_DOMAIN, origins: [LOCALHOST] }
      c.env.outgoing.once('close', () => onMade(passkey))
      return c.json(passkey)
    })
  })
  return { ...page, made }
}
