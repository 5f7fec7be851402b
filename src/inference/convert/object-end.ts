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
        else if (letter.trim() !== '') isReached = false
      }
    },
    isReached: () => isReached,
  }
}
