/** Bytes of a file that are searched and shown, from its beginning. */
export const SEARCHED_BYTES = 4 * 1024 * 1024
/** Longest part of a text, in UTF-16 code units. */
const PART_LENGTH = 256 * 1024

/** A part of a text, and the number of its first line. */
export interface TextPart {
  text: string
  firstLine: number
}

/**
 * Cuts a text at ends of lines into parts of at most 256 Ki characters. A long file is ranked by its best part: as a
 * whole, its length would hide what it says of a question.
 */
export function partsOf(text: string): TextPart[] {
  if (text.length <= PART_LENGTH) return [{ text, firstLine: 1 }]
  const parts: TextPart[] = []
  let firstLine = 1
  for (let at = 0; at < text.length; ) {
    const end = endOfPart(text, at)
    const part = { text: text.slice(at, end), firstLine }
    parts.push(part)
    firstLine += linesEndedIn(part.text)
    at = end
  }
  return parts
}

function endOfPart(text: string, from: number): number {
  const most = from + PART_LENGTH
  if (most >= text.length) return text.length
  const lineEnd = text.lastIndexOf('\n', most - 1)
  return lineEnd < from ? most : lineEnd + 1
}

function linesEndedIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}
