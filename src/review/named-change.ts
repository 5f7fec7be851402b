import * as z from 'zod'
import type { Change } from './change-parts.ts'
import { Sha256 } from './statement.ts'

const CommitId = z.string().regex(/^[0-9a-f]{40,64}$/)
/** A commit in a result: its id, or a side of the change that the result has. */
export const NamedCommit = z.union([CommitId, z.object({ commit: CommitId }).transform(({ commit }) => commit)])

/** The change that the result of a task names. The platform has no repository: commits alone would say nothing of it. */
const NamedChange = z
  .object({
    change: Sha256.optional(),
    digest: Sha256.optional(),
    base: NamedCommit.optional(),
    head: NamedCommit.optional(),
    parts: z.array(z.object({ digest: Sha256 })).optional(),
  })
  .transform(({ change, digest = change, ...named }) => ({ ...named, digest, isOne: (change ?? digest) === digest }))
  .refine(({ digest, isOne }) => digest !== undefined && isOne)

/** Tells whether a result names a change: by its SHA-256, as `change` or, where it has the change itself, as `digest`. */
export const namesChange = (result: unknown): boolean => NamedChange.safeParse(result).success

/**
 * Tells whether a result names this change. All that it states has to agree: the digest, the commits where it names them, and
 * the digests of the parts where it has them.
 */
export function isNamedBy(result: unknown, { digest, base, head, parts }: Change): boolean {
  const named = NamedChange.safeParse(result)
  if (!named.success || named.data.digest !== digest) return false
  const { base: from = base.commit, head: to = head.commit, parts: delivered } = named.data
  if (from !== base.commit || to !== head.commit) return false
  return (
    delivered === undefined ||
    (delivered.length === parts.length && delivered.every((part, at) => part.digest === parts[at]?.digest))
  )
}
