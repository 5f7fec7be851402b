import { readFile, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { GazewayError } from '../errors.ts'
import { type Checkout, gitBytes } from '../repository/git-command.ts'
import { askGit, readBlobs, resolveCommit } from './checkout.ts'
import { type Policy, readPolicy } from './policy.ts'

/**
 * Opens the policy for a range. One of the repository, and the files that it names, are read as they were at the base: a
 * change never judges itself. A policy that the base does not have is read from the disk, unless a link leads to it: a
 * change can move the link.
 *
 * @param path of the policy, absolute or from the working directory
 * @throws GazewayError `not_found` for a missing file, `validation_failed` for one that is no policy or behind a link
 */
export async function openPolicy(checkout: Checkout, base: string, path: string): Promise<Policy> {
  const file = resolve(path)
  const { commit } = await resolveCommit(checkout, base)
  const place = await placeIn(checkout, file)
  const inBase = place && (await atCommit(checkout, commit, place.path))
  if (place !== null && inBase !== null)
    return readPolicy(inBase, path, besideIn(checkout, { commit, file, path }, base))
  if (place && (place.isLinked || (await hasLink(checkout, commit, place.path))))
    throw new GazewayError(
      'validation_failed',
      `${path}: a link leads to it, which the change can move; name the file itself.`,
    )
  return readPolicyFile(file, path)
}

/**
 * Requires that a range leaves the policy readable, if it leaves one. The next range is judged by it: a broken one would
 * have each of them refused, also the one that mends it.
 *
 * @param path of the policy, absolute or from the working directory
 * @throws GazewayError `validation_failed` with what is wrong at the head
 */
export async function requireReadablePolicy(checkout: Checkout, head: string, path: string): Promise<void> {
  const file = resolve(path)
  const { commit } = await resolveCommit(checkout, head)
  const place = await placeIn(checkout, file)
  const inHead = place && (await atCommit(checkout, commit, place.path))
  if (inHead === null) return
  try {
    await readPolicy(inHead, path, besideIn(checkout, { commit, file, path }, head))
  } catch (error) {
    if (!(error instanceof GazewayError)) throw error
    throw new GazewayError(
      'validation_failed',
      `${head} breaks the review policy, which would refuse all that comes after it: ${error.message}`,
      { cause: error },
    )
  }
}

/** Reads the files that a policy names beside it, at a commit. @param revision name of the commit, for errors */
const besideIn =
  (checkout: Checkout, { commit, file, path }: { commit: string; file: string; path: string }, revision: string) =>
  async (name: string): Promise<string> => {
    const beside = await placeIn(checkout, resolve(dirname(file), name))
    const text = beside && (await atCommit(checkout, commit, beside.path))
    if (text === null) throw new GazewayError('not_found', `${name}, which ${path} names, is not in ${revision}.`)
    return text
  }

/**
 * Opens the policy in a file, and the files that it names beside it.
 *
 * @param name of it, for errors
 * @throws GazewayError as {@link openPolicy}
 */
export async function readPolicyFile(file: string, name: string): Promise<Policy> {
  return readPolicy(await onDisk(file), name, (beside) => onDisk(resolve(dirname(file), beside)))
}

/** A file of the repository, by its path from the top with slashes. */
interface Place {
  path: string
  /** True where a link outside of the repository leads to it. */
  isLinked: boolean
}

/** Finds a file's place in the repository by its name: links in it belong to a change. Null for another file. */
async function placeIn({ top }: Checkout, file: string): Promise<Place | null> {
  const path = pathBelow(top, file)
  if (path !== null) return { path, isLinked: false }
  const folder = await realpath(dirname(file)).catch(() => dirname(file))
  const real = pathBelow(top, join(folder, basename(file)))
  return real === null ? null : { path: real, isLinked: true }
}

function pathBelow(top: string, file: string): string | null {
  const path = relative(top, file)
  if (path === '' || isAbsolute(path) || path.split(sep)[0] === '..') return null
  return path.replaceAll(sep, '/')
}

/** Reads a file at a commit. Null where the commit has none. */
async function atCommit(checkout: Checkout, commit: string, path: string): Promise<string | null> {
  const name = `${commit}:${path}`
  const { output, failure } = await gitBytes(checkout, ['rev-parse', '--verify', '--quiet', '--end-of-options', name])
  if (failure !== null) return null
  const oid = output.toString('latin1').trim()
  const content = (await readBlobs(checkout, [oid])).get(oid)
  return content == null ? null : Buffer.from(content, 'latin1').toString()
}

/** Tells whether a folder on the way to a file is a link, or another file, at a commit. */
async function hasLink(checkout: Checkout, commit: string, path: string): Promise<boolean> {
  const folders = path.split('/').slice(0, -1)
  if (folders.length === 0) return false
  const ways = folders.map((_, index) => folders.slice(0, index + 1).join('/'))
  const entries = await askGit(checkout, ['--literal-pathspecs', 'ls-tree', '-z', '--full-tree', commit, '--', ...ways])
  return entries
    .toString('latin1')
    .split('\0')
    .some((entry) => entry !== '' && !entry.startsWith('040000 '))
}

async function onDisk(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new GazewayError('not_found', `${file} was not read (${code}).`, { cause })
  }
}
