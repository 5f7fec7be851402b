import { isObject, parseJson } from '../../text/json.ts'

/** Space between the parts of JSON. */
const SPACE = ' \n\r\t'

/** Finds the end of a JSON object that comes in pieces. */
export interface ObjectEnd {
  push(text: string): void
  /** True when the braces of the text so far are balanced, and nothing but space follows. It may still be no JSON. */
  isReached(): boolean
}

/** Creates a finder. It reads each letter once, however many pieces there are. */
export function createObjectEnd(): ObjectEnd {
  let depth = 0
  let isText = false
  let isEscaped = false
  let isReached = false
  function read(letter: string): void {
    if (isEscaped) isEscaped = false
    else if (isText && letter === '\\') isEscaped = true
    else if (letter === '"') isText = !isText
    else if (!isText && letter === '{') depth++
    else if (!isText && letter === '}') depth--
  }
  return {
    push(text) {
      for (const letter of text) {
        read(letter)
        if (letter === '}' && depth === 0 && !isText) isReached = true
        else if (!SPACE.includes(letter)) isReached = false
      }
    },
    isReached: () => isReached,
  }
}

/** Tells of the arguments of a call that come in pieces whether they are a whole JSON object. */
export interface Completeness {
  push(piece: string): void
  /** All pieces so far. */
  written(): string
  isWhole(): boolean
}

/**
 * Creates it, for no pieces. Pieces are read once somebody asks, each once, and all of them are parsed only where braces are
 * balanced: most streams never ask.
 */
export function createCompleteness(): Completeness {
  let written = ''
  let end: ObjectEnd | null = null
  let isWhole: boolean | null = null
  return {
    push(piece) {
      written += piece
      end?.push(piece)
      if (piece.trim() !== '') isWhole = null
    },
    written: () => written,
    isWhole() {
      if (end === null) {
        end = createObjectEnd()
        end.push(written)
      }
      isWhole ??= end.isReached() && isObject(parseJson(written))
      return isWhole
    },
  }
}
