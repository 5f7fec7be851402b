import { GazewayError } from '../../src/errors.ts'

/** Pieces of replies that the process reads and serializes at once. Each takes a few times its size in memory. */
const AT_ONCE = 4
/** Maximum number of replies that wait for their first piece. Any further reply is refused. */
const MAX_WAITING = 1000

const waiting: Array<() => void> = []
let inProgress = 0

/**
 * Makes a piece of a reply when it is its turn. Waiting replies hold no data. The turn ends when the piece is made, so
 * a slow client delays nobody.
 */
export async function inReplyTurn<Piece>(make: () => Promise<Piece> | Piece): Promise<Piece> {
  if (inProgress < AT_ONCE) inProgress++
  else await new Promise<void>((resolve) => waiting.push(resolve))
  try {
    return await make()
  } finally {
    // The next waiter takes the turn.
    const next = waiting.shift()
    if (next) next()
    else inProgress--
  }
}

/**
 * Makes the first piece of a reply, or all of it, when it is its turn.
 *
 * @throws GazewayError `store_unavailable` when too many replies wait
 */
export async function beginReplyInTurn<Piece>(make: () => Promise<Piece> | Piece): Promise<Piece> {
  if (waiting.length < MAX_WAITING) return inReplyTurn(make)
  throw new GazewayError('store_unavailable', 'Too many lists are being read at once. Retry, or request fewer items.', {
    retryAfterSeconds: 1,
  })
}
