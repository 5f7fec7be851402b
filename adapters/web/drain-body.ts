import type { IncomingMessage } from 'node:http'

/** Longest wait for the rest of a body, in milliseconds. */
const LINGER_MS = 10_000

/**
 * Reads and drops what a client still sends of the body of a refused request, where Node closes the connection right
 * after the reply: a client of a closed connection sees that its write fails, and not why. Waits 10 s at most.
 */
export async function bodyLeft(incoming: IncomingMessage): Promise<void> {
  const { complete, destroyed, httpVersion, headers } = incoming
  const closes = httpVersion === '1.0' || /\bclose\b/i.test(headers.connection ?? '')
  if (complete || destroyed || !closes) return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, LINGER_MS)
    const over = () => {
      clearTimeout(timer)
      resolve()
    }
    incoming.once('end', over).once('close', over).resume()
  })
}
