import './review.css'
import type { ComponentChildren } from 'preact'

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Characters that are not seen, or that change the direction or the order of text. A tab is seen. */
const HIDDEN = /((?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])/u

/** Converts the bytes of a line to text: UTF-8, or bytes above 0x7f as `\xNN` where it is none. */
export function decoded(bytes: string): string {
  try {
    return UTF8.decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)))
  } catch {
    return bytes.replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`)
  }
}

/** Text in which nothing hides: characters that cannot be seen are shown by their numbers. */
export function visible(text: string): ComponentChildren {
  if (!HIDDEN.test(text)) return text
  return text.split(HIDDEN).map((piece, index) => (index % 2 === 0 ? piece : <b class="hidden-char">{named(piece)}</b>))
}

const named = (char: string): string => `U+${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`
