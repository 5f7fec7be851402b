import { createHash } from 'node:crypto'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { type AllowedSigner, parseAllowedSigners, parseRevokedKeys } from '../signing/allowed-signers.ts'
import { Passkey } from '../signing/webauthn.ts'
import { matchesGlob } from '../text/glob.ts'
import { parseJson } from '../text/json.ts'
import { type Identities, identitiesOf } from './identities.ts'
import { Level } from './statement.ts'

/** Demands on the reviews of a path. */
const Demands = {
  level: Level.exclude(['none', 'live', 'attested']).describe(
    'least level of evidence: `seen`, `plausible` or `present`',
  ),
  coverage: z.number().min(0).max(1).describe('least share of the changed lines of each hunk that was seen'),
  reviewers: z.int().min(0).max(10).describe('people who have to read each hunk; 0 demands nothing'),
  not_author: z.boolean().describe('whether authors and co-authors of the range do not count as reviewers'),
}

/** A glob that can match: git lists paths without a slash at either end. */
const Glob = z
  .string()
  .regex(
    /^(?!!|\.{0,2}\/)(?!.*\*\*)(?!.*\/$).+$/s,
    'Write paths as git lists them, without ! or ./ or / before them, and * instead of **, as in src/*',
  )

const Rule = z.strictObject({
  paths: z.array(Glob).min(1).describe('globs of paths; `*` matches any characters, `/` as well'),
  level: Demands.level.optional(),
  coverage: Demands.coverage.optional(),
  reviewers: Demands.reviewers.optional(),
  not_author: Demands.not_author.optional(),
})

const file = z.string().min(1)

/** A review policy as it is written. */
export const PolicyFile = z
  .object({
    $schema: z.string().optional(),
    version: z.literal(1),
    allowed_signers: file.describe('allowed signers file of OpenSSH, beside the policy: reviewers and observers'),
    revoked_keys: file.optional().describe('file of public keys that are refused, beside the policy'),
    passkeys: z
      .array(Passkey)
      .default([])
      .describe('passkeys that are enrolled; a receipt is `present` with one alone'),
    observers: z
      .array(z.string())
      .default([])
      .describe(
        'principals of the allowed signers whose countersignature is trusted, in the namespace gazeway-observer',
      ),
    repository: z.string().optional().describe('name that receipts have to state'),
    max_age_days: z.number().positive().optional().describe('greatest age of a receipt'),
    level: Demands.level.default('plausible'),
    coverage: Demands.coverage.default(1),
    reviewers: Demands.reviewers.default(1),
    not_author: Demands.not_author.default(true),
    hold: z
      .array(
        z
          .string()
          .regex(/^\S+( \S+)*$/)
          .max(200),
      )
      .max(50)
      .default([])
      .describe('commands that the hook of the Claude Code plugin holds, such as `git push`; a reminder, not a gate'),
    rules: z.array(Rule).default([]).describe('other demands for some paths; the last rule that matches a path holds'),
  })
  .strict()

/** A review policy with the files that it names. */
export interface Policy extends z.infer<typeof PolicyFile> {
  signers: AllowedSigner[]
  identities: Identities
  /** SHA-256 of its text. */
  digest: string
  /** Base64 of revoked keys. */
  revoked: ReadonlySet<string>
}

/** Demands on the reviews of one path. */
export type Demand = Pick<Policy, 'level' | 'coverage' | 'reviewers' | 'not_author'>

/**
 * Reads a policy and the files that it names.
 *
 * @param name of its file, for errors
 * @param readBeside reads a file by its path from the policy's folder
 * @throws GazewayError `validation_failed` naming what is wrong
 */
export async function readPolicy(
  text: string,
  name: string,
  readBeside: (path: string) => Promise<string>,
): Promise<Policy> {
  const policy = PolicyFile.safeParse(parseJson(text))
  if (!policy.success) {
    const [issue] = policy.error.issues
    const place = issue?.path.join('.') || 'it'
    throw new GazewayError('validation_failed', `${name} is no review policy: ${place}: ${issue?.message}.`)
  }
  const { allowed_signers: signers, revoked_keys: revoked } = policy.data
  const allowed = parseAllowedSigners(await readBeside(signers))
  return {
    ...policy.data,
    digest: createHash('sha256').update(text).digest('hex'),
    signers: allowed,
    identities: identitiesOf(allowed),
    revoked: revoked === undefined ? new Set() : parseRevokedKeys(await readBeside(revoked)),
  }
}

/** Finds the demands on a path: those of the last rule that matches it, else those of the policy. */
export function demandOn(policy: Policy, path: string): Demand {
  const rule = policy.rules.findLast(({ paths }) => paths.some((glob) => matchesGlob(glob, path)))
  return {
    level: rule?.level ?? policy.level,
    coverage: rule?.coverage ?? policy.coverage,
    reviewers: rule?.reviewers ?? policy.reviewers,
    not_author: rule?.not_author ?? policy.not_author,
  }
}
