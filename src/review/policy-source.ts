import { readFile, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { type Checkout, gitBytes } from '../context/git-command.ts'
import { GazewayError } from '../errors.ts'
import { readBlobs, resolveCommit } from './checkout.ts'
import { type Policy, readPolicy } from './policy.ts'

/**
 * Opens the policy for a range. One of the repository, and the files that it names, are read as they were at the base: a
 * change never judges itself. A policy that the base does not have is read from the disk.
 *
 * @param path of the policy, absolute or from the working directory
 * @throws GazewayError `not_found` for a missing file, `validation_failed` for one that is no policy
 */
export async function openPolicy(checkout: Checkout, base: string, path: string): Promise<Policy> {
  const file = resolve(path)
  const { commit } = await resolveCommit(checkout, base)
  const inBase = await atCommit(checkout, commit, file)
  if (inBase === null) return readPolicyFile(file, path)
  return readPolicy(inBase, path, async (name) => {
    const text = await atCommit(checkout, commit, resolve(dirname(file), name))
    if (text === null) throw new GazewayError('not_found', `${name}, which ${path} names, is not in ${base}.`)
    return text
  })
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

/** Reads a file of the repository at a commit. Null for another file, and where the commit has none. */
async function atCommit(checkout: Checkout, commit: string, file: string): Promise<string | null> {
  const folder = await realpath(dirname(file)).catch(() => dirname(file))
  const inside = relative(checkout.top, join(folder, file.slice(dirname(file).length + 1)))
  if (inside === '' || isAbsolute(inside) || inside.split(sep)[0] === '..') return null
  const name = `${commit}:${inside.replaceAll(sep, '/')}`
  const { output, failure } = await gitBytes(checkout, ['rev-parse', '--verify', '--quiet', '--end-of-options', name])
  if (failure !== null) return null
  const oid = output.toString('latin1').trim()
  const content = (await readBlobs(checkout, [oid])).get(oid)
  return content == null ? null : Buffer.from(content, 'latin1').toString()
}

async function onDisk(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new GazewayError('not_found', `${file} was not read (${code}).`, { cause })
  }
}
