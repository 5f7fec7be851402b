/** Memory of an object, an array or a field, beyond its text, in bytes. V8 takes more for some, and less for most. */
export const BYTES_EACH = 100

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
const ARRAY = 0x5b
const OBJECT = 0x7b
/** Space, line ends and tab: what JSON may begin with. */
const BLANKS = [0x20, 0x0a, 0x0d, 0x09]

/**
 * Estimates the memory that the objects, arrays and fields of a JSON text take once it is parsed, beyond its text:
 * `{},` is 3 bytes of text and more than 60 of memory.
 *
 * @param json text in UTF-8, which need not be valid
 * @returns bytes; 0 for a text that is no object or array, such as a form
 */
export function structureBytes(json: Buffer): number {
  const begin = json.findIndex((byte) => !BLANKS.includes(byte))
  if (json[begin] !== OBJECT && json[begin] !== ARRAY) return 0
  let count = 0
  for (let at = begin; at < json.length; at++) {
    const byte = json[at]
    if (byte === OBJECT || byte === ARRAY || byte === COLON) count++
    else if (byte === QUOTE) at = endOfString(json, at)
  }
  return count * BYTES_EACH
}

/** Bytes of a string that are looked at one by one, which is faster for short strings. */
const SHORT = 64

/** Finds the quote that ends a string. */
function endOfString(json: Buffer, begin: number): number {
  const near = Math.min(begin + SHORT, json.length)
  for (let at = begin + 1; at < near; at++) {
    if (json[at] === BACKSLASH) at++
    else if (json[at] === QUOTE) return at
  }
  for (let end = json.indexOf(QUOTE, begin + 1); end > 0; end = json.indexOf(QUOTE, end + 1)) {
    let escapes = 0
    while (json[end - 1 - escapes] === BACKSLASH) escapes++
    if (escapes % 2 === 0) return end
  }
  return json.length
}
