import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Access to the page of one review: a link that works once, and the token of the tab that opened it. */
export interface PageAccess {
  /** Ticket of the link. */
  ticket: string
  /** Exchanges the ticket for the token. Null for another ticket, and when it was exchanged before. */
  exchange(ticket: string): string | null
  isToken(token: string): boolean
}

/** Creates access to a page. Nobody who sees the link later, in a history or a terminal, can use it again. */
export function createPageAccess(): PageAccess {
  const [ticket, token] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')]
  let isUsed = false
  return {
    ticket,
    exchange(sent) {
      if (isUsed || !isSameSecret(sent, ticket)) return null
      isUsed = true
      return token
    },
    isToken: (sent) => isUsed && isSameSecret(sent, token),
  }
}

/** Compares secrets in a time that tells nothing of them. */
export const isSameSecret = (one: string, other: string): boolean => timingSafeEqual(digestOf(one), digestOf(other))

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()
