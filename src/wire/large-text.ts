import { isAscii, isUtf8, transcode } from 'node:buffer'
import { nextSlice, yieldToEventLoop } from './yield-to-event-loop.ts'

/** Bytes that are decoded at once. */
const PART = 512 * 1024
/** Longest text beyond ASCII that is decoded once, and at once, instead of a part each time that something looks into it. */
const AT_ONCE = 4 * 1024 * 1024
const CONTINUED = 0b1000_0000
const KIND_OF_BYTE = 0b1100_0000
const ASCII = /^[\0-\x7f]*$/
/** Most letters that are tested for ASCII before they are decoded. */
const SHORT = 1000

/**
 * A large JSON text that is read in turns with other work. V8 copies a string of 64 MB at once, which takes longer than
 * others may wait, so that the whole text is decoded only where something looks into it.
 */
export interface LargeText {
  /** Positions count these: the text, or the bytes of a text beyond ASCII as latin1, in which JSON has the same signs. */
  letters: string
  /** The text. A long one is joined by V8 when it is first looked into; its length is known before. */
  text: string
  /** Text between two positions. Neither may be within a letter. */
  textOf(from: number, to: number): string
  /** Last position up to another that is not within a letter. */
  wholeAt(at: number): number
}

/** Reads a text that is decoded already. */
export const textAsLarge = (text: string): LargeText => ({
  letters: text,
  text,
  textOf: (from, to) => text.slice(from, to),
  wholeAt: (at) => at,
})

/**
 * Decodes UTF-8 in turns with other work.
 *
 * @param atOnce length up to which a text beyond ASCII is decoded as a whole
 * @returns null for bytes that are not UTF-8
 */
export async function decodeLarge(bytes: Buffer, atOnce = AT_ONCE): Promise<LargeText | null> {
  if (isAscii(bytes)) {
    await nextSlice()
    return textAsLarge(bytes.toString('latin1'))
  }
  if (bytes.length <= atOnce) {
    if (!isUtf8(bytes)) return null
    await nextSlice()
    return textAsLarge(decoded(bytes))
  }
  const text = await decodeInTurns(bytes)
  if (text === null) return null
  await nextSlice()
  const letters = bytes.toString('latin1')
  return {
    letters,
    text,
    textOf(from, to) {
      const written = to - from < SHORT ? letters.slice(from, to) : null
      return written !== null && ASCII.test(written) ? written : decoded(bytes.subarray(from, to))
    },
    wholeAt: (at) => wholeAt(bytes, at),
  }
}

/** Decodes UTF-8 to a text alone. @returns null for bytes that are not UTF-8 */
export async function decodeInTurns(bytes: Buffer): Promise<string | null> {
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (!isUtf8(bytes)) return null
  let text = ''
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    await yieldToEventLoop()
    to = wholeAt(bytes, Math.min(from + PART, bytes.length))
    text += decoded(bytes.subarray(from, to))
  }
  return text
}

function wholeAt(bytes: Buffer, at: number): number {
  let whole = at
  while (((bytes[whole] ?? 0) & KIND_OF_BYTE) === CONTINUED) whole--
  return whole
}

/**
 * Decodes UTF-8 that is known to be valid. ASCII is copied as latin1, which takes a fifth of the time. Other text is
 * transcoded: Node 20 decodes at half that speed.
 */
export const decoded = (bytes: Buffer): string =>
  isAscii(bytes) ? bytes.toString('latin1') : transcode(bytes, 'utf8', 'utf16le').toString('utf16le')
