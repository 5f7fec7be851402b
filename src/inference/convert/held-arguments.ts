import { WrongTypeError } from '../../text/typed-reader.ts'
import { createCompleteness } from './object-end.ts'
import { createWrapping } from './wrapped-arguments.ts'

/** Longest arguments of one call, in characters. No model writes as many. */
const LONGEST = 16 * 1024 * 1024

/** Arguments of a call that arrive in pieces. Pieces of what is no object as it stands are held until its end. */
export interface HeldArguments<Piece> {
  /**
   * Adds a piece with its text.
   *
   * @returns the piece to pass on; none while it is held
   * @throws WrongTypeError when they are too long
   */
  push(text: string, piece: Piece): Piece[]
  /** All text so far. */
  written(): string
  /** True once they are a whole JSON object. */
  isWhole(): boolean
  /** Takes the pieces that are held. */
  take(): Piece[]
}

/** Creates empty arguments. */
export function heldArguments<Piece>(): HeldArguments<Piece> {
  const wrapping = createWrapping()
  const { push, written, isWhole } = createCompleteness()
  let length = 0
  let held: Piece[] = []
  return {
    push(text, piece) {
      push(text)
      length += text.length
      if (length > LONGEST) throw new WrongTypeError('arguments', `at most ${LONGEST} characters`)
      wrapping.push(text)
      if (text === '' || !wrapping.isWrapped()) return [piece]
      held.push(piece)
      return []
    },
    written,
    isWhole,
    take() {
      const taken = held
      held = []
      return taken
    },
  }
}
