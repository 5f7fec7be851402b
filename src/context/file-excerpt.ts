import { join } from 'node:path'
import { isBinaryFileSync } from 'isbinaryfile'
import { readInside, readInsideSync } from '../repository/confine.ts'
import { cut } from '../text/cut.ts'
import { SEARCHED_BYTES } from './search/text-parts.ts'
import { holdsPrivateKey, looksSecret } from './secrets.ts'

const LINE_LENGTH = 200

/** Returns the text of a file below a root, or null: see {@link readText}. */
export type TextReader = (path: string) => Promise<string | null>

/** Creates a reader of the files below a root. Each file is read once, up to 4 MiB. */
export function createTextReader(root: string): TextReader {
  const texts = new Map<string, Promise<string | null>>()
  return function textOf(path) {
    const reading = texts.get(path) ?? readText(root, path, SEARCHED_BYTES)
    texts.set(path, reading)
    return reading
  }
}

/** Creates a reader of line ranges. */
export function createExcerptReader(textOf: TextReader) {
  /** @returns null when the file may not or cannot be shown, or has no such lines */
  return async function excerptOf(path: string, from: number, to: number): Promise<string | null> {
    const text = await textOf(path)
    return text === null ? null : linesOf(text, from, to)
  }
}

/**
 * Reads the beginning of a text file below the root, without control characters. Null when the file looks secret, is
 * binary, is a link, or cannot be read.
 *
 * @param limit bytes
 */
async function readText(root: string, path: string, limit: number): Promise<string | null> {
  if (looksSecret(join(root, path))) return null
  const bytes = await readInside(root, path, limit)
  return bytes === null ? null : textOfFile(bytes)
}

/** Synchronous {@link readText}, for worker threads. `isCut` tells whether the file goes on after the text. */
export function readTextSync(root: string, path: string, limit: number): { text: string | null; isCut: boolean } {
  const bytes = looksSecret(join(root, path)) ? null : readInsideSync(root, path, limit + 1)
  if (bytes === null) return { text: null, isCut: false }
  return { text: textOfFile(bytes.subarray(0, limit)), isCut: bytes.length > limit }
}

/** Decodes the bytes of a file; null for a binary file or a file with a private key. */
function textOfFile(bytes: Buffer): string | null {
  if (isBinaryFileSync(bytes, bytes.length)) return null
  // Read byte by byte, so that a key is found in any encoding: the second byte of a UTF-16 letter is a NUL.
  if (holdsPrivateKey(withoutControls(bytes.toString('latin1')))) return null
  return withoutControls(decode(bytes))
}

/** Decodes text by its byte order mark; UTF-8 without one. */
function decode(bytes: Buffer): string {
  const mark = bytes.toString('hex', 0, 2)
  const encoding = (mark === 'fffe' && 'utf-16le') || (mark === 'feff' && 'utf-16be') || 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}

function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal escapes in a source file must not reach a terminal
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '')
}

/**
 * Selects lines `from` to `to` of a text (from 1, both included), each cut at 200 characters. Cut lines end with "…".
 * Null when the lines are blank.
 */
function linesOf(text: string, from: number, to: number): string | null {
  const lines = text
    .split('\n')
    .slice(from - 1, to)
    .map(cutLine)
  while (lines.length > 0 && lines.at(-1)?.trim() === '') lines.pop()
  return lines.length > 0 ? lines.join('\n') : null
}

function cutLine(line: string): string {
  return line.length > LINE_LENGTH ? `${cut(line, 0, LINE_LENGTH)}…` : line
}
