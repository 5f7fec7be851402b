import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { GazewayError } from '../../src/errors.ts'

/**
 * Reads a file that a command names; `-` is the standard input.
 *
 * @param what is read, for errors: `The receipt`
 * @throws GazewayError `not_found` with the code of the system
 */
export async function readInput(file: string, what: string): Promise<string> {
  try {
    return file === '-' ? await text(process.stdin) : await readFile(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new GazewayError('not_found', `${what} ${file} was not read (${code}).`, { cause })
  }
}
