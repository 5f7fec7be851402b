const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Control characters, and those that change the direction of text, with which a name could hide what it is. */
const HIDING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\]/gu

/**
 * Writes the bytes of a path as text for people and receipts: UTF-8 where it is, with control characters and backslashes
 * escaped, else each byte above 0x7f as `\xNN`.
 *
 * @param path its bytes, each as one character
 */
export function pathName(path: string): string {
  try {
    const text = UTF8.decode(Buffer.from(path, 'latin1'))
    return text.replace(HIDING, (char) => (char === '\\' ? '\\\\' : `\\u{${char.codePointAt(0)?.toString(16)}}`))
  } catch {
    return path.replace(/[^\x20-\x5b\x5d-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
  }
}
