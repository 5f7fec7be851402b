import * as z from 'zod'
import { LONGEST_REPOSITORY, repositoryName } from '../text/repository-name.ts'

/** Most commits in one request. */
const MOST_COMMITS = 100
/** Longest kept subject of a commit, in characters. */
const LONGEST_SUBJECT = 200

const Sha = z
  .string()
  .regex(/^[\da-f]{7,64}$/i)
  .transform((sha) => sha.toLowerCase())

const CommitMade = z.strictObject({
  sha: Sha,
  at: z.iso.datetime({ offset: true }),
  subject: z
    .string()
    .max(10_000)
    .transform((subject) => subject.replaceAll('\0', '').slice(0, LONGEST_SUBJECT))
    .optional(),
})

const Repository = z
  .string()
  .max(2048)
  .transform((remote, context) => {
    const name = repositoryName(remote)
    if (name !== null) return name
    context.addIssue({ code: 'custom', message: 'must be a remote, as host/owner/name, or root:SHA' })
    return z.NEVER
  })

/** Text without control characters. */
const line = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^\P{Cc}+$/u)

/** Facts about a session from now on. An omitted field keeps its value. */
export const SessionFacts = z.strictObject({
  repository: Repository.optional().describe(
    `Remote without credentials, of at most ${LONGEST_REPOSITORY} characters; root:SHA of the first commit without one.`,
  ),
  branch: line(255).nullable().optional().describe('null: none is checked out'),
  commit: Sha.optional().describe('The commit that is checked out'),
  dirty: z.boolean().optional().describe('Whether the folder has changes that are in no commit'),
  commits: z.array(CommitMade).max(MOST_COMMITS).optional().describe('Commits made during the session'),
  replaced: z
    .array(Sha)
    .max(MOST_COMMITS)
    .optional()
    .describe('Commits noted before that an amend or a rebase has replaced'),
  path: line(1024).optional().describe('Folder; only where its machine may send it'),
  client: line(64).optional(),
  at: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('When this was so; ignored where it is in the future, or older than a day'),
})
export type SessionFacts = z.output<typeof SessionFacts>

/** Present facts of a session. */
export const PresentFacts = z.object({
  session_id: z.string(),
  repository: z.string().nullable(),
  branch: z.string().nullable(),
  commit: z.string().nullable(),
  dirty: z.boolean().nullable(),
})
export type PresentFacts = z.infer<typeof PresentFacts>
