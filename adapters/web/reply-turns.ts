import { GazewayError } from '../../src/errors.ts'

/** Pieces of replies that are read and made into JSON at once, in the whole process. Each is a few times as large in memory. */
const AT_ONCE = 4
/** Replies that may wait for their first piece; the next one is refused. */
const MOST_WAITING = 1000

const waiting: Array<() => void> = []
let inProgress = 0

/**
 * Makes a piece of a reply when it is its turn. Those who wait hold nothing yet. The turn is over once the piece is made:
 * however slowly a client takes it, nobody waits for that.
 */
export async function inReplyTurn<Piece>(make: () => Promise<Piece> | Piece): Promise<Piece> {
  if (inProgress < AT_ONCE) inProgress++
  else await new Promise<void>((resolve) => waiting.push(resolve))
  try {
    return await make()
  } finally {
    // Whoever is next takes the turn over.
    const next = waiting.shift()
    if (next) next()
    else inProgress--
  }
}

/**
 * Makes the first piece of a reply, or all of it, when it is its turn.
 *
 * @throws GazewayError `store_unavailable` where too many wait already
 */
export async function beginReplyInTurn<Piece>(make: () => Promise<Piece> | Piece): Promise<Piece> {
  if (waiting.length < MOST_WAITING) return inReplyTurn(make)
  throw new GazewayError('store_unavailable', 'Too many lists are being read at once. Retry, or request fewer items.', {
    retryAfterSeconds: 1,
  })
}
