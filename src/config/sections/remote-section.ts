import * as z from 'zod'
import { isBaseUrl } from '../addresses.ts'
import { section } from './section.ts'
import { credential, milliseconds } from './setting-values.ts'

/** Another Gazeway whose memories and audit trail the tools on stdio use. */
export const remoteSection = section(
  () => ({
    url: z.string().max(2048).refine(isSafe, 'not a base URL over https').nullable().default(null).meta({
      variable: 'GAZEWAY_REMOTE',
      flag: '--remote',
      description:
        "The platform of another Gazeway: the tools on stdio use its memories and audit trail in place of this machine's, and `gazeway review` has it observe.",
      accepted: 'a base URL such as https://gazeway.example.org (http on this machine only), or null',
    }),
    key: credential.nullable().default(null).meta({
      variable: 'GAZEWAY_REMOTE_KEY',
      description: 'API key of the remote Gazeway.',
      accepted: 'a key without spaces, or null',
      secret: 'value',
    }),
    projects: z
      .record(z.string().min(1).max(1024), z.string().min(1).max(1024))
      .default({})
      .describe("The remote's names of projects, by their names here (gazeway project list). Others keep their name."),
    timeout_ms: milliseconds.default(10_000).describe('Time limit of a request to the remote Gazeway.'),
  }),
  { restart: true },
)

const THIS_MACHINE = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** A key goes with each request, and others could read it on the way over http. */
function isSafe(text: string): boolean {
  if (!isBaseUrl(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || THIS_MACHINE.has(hostname)
}
