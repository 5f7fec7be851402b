import { lstat, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { GazewayError } from '../errors.ts'
import { type Checkout, gitBytes } from '../repository/git-command.ts'
import { findRepository } from '../repository/repository.ts'

const DEEPER =
  'The commits of the range and their files have to be there: fetch deeper (a depth of 2 for a squash, the whole range for a merge or a rebase), without --filter.'

/**
 * Opens the repository around a folder; or in it, where GIT_DIR names it: on a server it has no checkout.
 *
 * @throws GazewayError `not_found` without a repository, `forbidden_path` for one that leads to another folder
 */
export async function openCheckout(folder: string): Promise<Checkout> {
  const root = await realpath(folder)
  // A change may add what looks like a repository, so that one without a checkout has to be named, as git's hooks do.
  if (await isNamed(root)) return { root, top: root, isBare: true }
  const found = await findRepository(root)
  if (found === null) throw new GazewayError('not_found', `${folder} is in no git repository.`)
  if ('refused' in found) throw new GazewayError('forbidden_path', `The repository is not read: ${found.refused}.`)
  return { root: found.top, top: found.top }
}

/** Tells whether GIT_DIR names a repository without a checkout in this folder. */
async function isNamed(folder: string): Promise<boolean> {
  const { GIT_DIR } = process.env
  if (!GIT_DIR || (await realpath(GIT_DIR).catch(() => null)) !== folder) return false
  return (await lstat(join(folder, 'objects')).catch(() => null))?.isDirectory() ?? false
}

/** Runs a git command whose failure ends the work. @throws GazewayError `not_found` with git's reason */
export async function askGit(checkout: Checkout, args: string[], input?: string): Promise<Buffer> {
  return (await answerOf(checkout, args, input)).output
}

/** Runs a git command as {@link askGit} does. Returns its warnings as well. */
export async function answerOf(checkout: Checkout, args: string[], input?: string) {
  const answer = await gitBytes(checkout, args, input === undefined ? {} : { input })
  if (answer.failure !== null) throw new GazewayError('not_found', `${answer.failure}. ${DEEPER}`)
  return answer
}

/**
 * Resolves a revision to a commit and its tree.
 *
 * @throws GazewayError `not_found` for an unknown one, `validation_failed` for a name of several commits: a pushed tag
 * `origin/main` would come before the branch
 */
export async function resolveCommit(checkout: Checkout, revision: string): Promise<{ commit: string; tree: string }> {
  const commit = await resolved(checkout, `${revision}^{commit}`)
  return { commit, tree: await resolved(checkout, `${commit}^{tree}`) }
}

/** Names for which git takes what they say, whatever branches and tags there are. */
const CERTAIN = /^(?:HEAD|[0-9a-f]{40}|[0-9a-f]{64})$/

async function resolved(checkout: Checkout, revision: string): Promise<string> {
  const asked = ['-c', 'core.warnAmbiguousRefs=true', 'rev-parse', '--verify', '--end-of-options', revision]
  const { output, warnings } = await answerOf(checkout, asked)
  const [, name] = /^warning: refname '(.+)' is ambiguous/m.exec(warnings) ?? []
  if (name === undefined || CERTAIN.test(name)) return output.toString('latin1').trim()
  const message = `${name} names several commits: a branch and a tag, for instance. Name one by its full id, or by refs/….`
  throw new GazewayError('validation_failed', message)
}

const FOUND = /^([0-9a-f]+) blob (\d+)$/

/** Bytes of one file above which its lines are not compared. */
const LARGEST = 4 * 1024 * 1024
/** Bytes of files that are asked of git at once, below its limit of output. */
const BATCH = 32 * 1024 * 1024

/**
 * Reads blobs, as bytes that are one character each. Attributes, filters and text conversions do not apply.
 *
 * @returns null for a blob of more than 4 MiB
 * @throws GazewayError `not_found` where the repository lacks one
 */
export async function readBlobs(checkout: Checkout, oids: Iterable<string>): Promise<Map<string, string | null>> {
  const contents = new Map<string, string | null>()
  for await (const batch of blobBatches(checkout, oids)) for (const [oid, content] of batch) contents.set(oid, content)
  return contents
}

/** Reads blobs as {@link readBlobs} does, at most 32 MiB at once. */
export async function* blobBatches(
  checkout: Checkout,
  oids: Iterable<string>,
): AsyncGenerator<ReadonlyMap<string, string | null>> {
  const wanted = [...new Set(oids)]
  if (wanted.length === 0) return
  const sizes = await askGit(checkout, ['cat-file', '--batch-check'], lined(wanted))
  let batch: string[] = []
  let bytes = 0
  const large = new Map<string, null>()
  for (const line of sizes.toString('latin1').trimEnd().split('\n')) {
    const [, oid, size] = FOUND.exec(line) ?? []
    if (oid === undefined) throw new GazewayError('not_found', `The repository lacks a file: ${line}. ${DEEPER}`)
    if (Number(size) > LARGEST) {
      large.set(oid, null)
      continue
    }
    if (bytes + Number(size) > BATCH) {
      yield await contentsOf(checkout, batch)
      batch = []
      bytes = 0
    }
    batch.push(oid)
    bytes += Number(size)
  }
  yield large
  if (batch.length > 0) yield await contentsOf(checkout, batch)
}

async function contentsOf(checkout: Checkout, oids: readonly string[]): Promise<Map<string, string>> {
  const output = await askGit(checkout, ['cat-file', '--batch'], lined(oids))
  const contents = new Map<string, string>()
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf('\n', at)
    const [, oid, size] = FOUND.exec(output.toString('latin1', at, end)) ?? []
    if (oid === undefined) throw new GazewayError('internal_error', 'git cat-file printed a form that is not known.')
    const from = end + 1
    contents.set(oid, output.toString('latin1', from, from + Number(size)))
    at = from + Number(size) + 1
  }
  return contents
}

const lined = (oids: readonly string[]): string => `${oids.join('\n')}\n`
