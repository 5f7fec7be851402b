import { createWrapping } from './wrapped-arguments.ts'

/** Arguments of a call that arrive in pieces. Pieces of what is no object as it stands are held until its end. */
export interface HeldArguments<Piece> {
  /**
   * Adds a piece with its text.
   *
   * @returns the piece to pass on; none while it is held
   */
  push(text: string, piece: Piece): Piece[]
  /** All text so far. */
  written(): string
  /** Takes the pieces that are held. */
  take(): Piece[]
}

/** Creates empty arguments. */
export function heldArguments<Piece>(): HeldArguments<Piece> {
  const wrapping = createWrapping()
  let written = ''
  let held: Piece[] = []
  return {
    push(text, piece) {
      written += text
      wrapping.push(text)
      if (text === '' || !wrapping.isWrapped()) return [piece]
      held.push(piece)
      return []
    },
    written: () => written,
    take() {
      const taken = held
      held = []
      return taken
    },
  }
}
