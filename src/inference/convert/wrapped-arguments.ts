import { isObject, parseJson } from '../../text/json.ts'

/** Tells of the arguments of a call that arrive in pieces whether they begin as no object: encoded twice, or `null`. */
export interface Wrapping {
  push(piece: string): void
  isWrapped(): boolean
}

/** Creates it. Each piece is read once: a search in all that arrived would copy it for every piece. */
export function createWrapping(): Wrapping {
  let begins: boolean | null = null
  return {
    push(piece) {
      if (begins !== null) return
      const first = piece.trimStart()[0]
      if (first !== undefined) begins = first !== '{'
    },
    isWrapped: () => begins === true,
  }
}

/** Arguments of a call, decoded where they were encoded twice; `null` is empty. Others are returned as they are. */
export function unwrapped(args: string): string {
  if (args.trim() === 'null') return '{}'
  const text = args.trimStart().startsWith('"') ? parseJson(args) : undefined
  return typeof text === 'string' && isObject(parseJson(text)) ? text : args
}
