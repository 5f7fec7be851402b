import { useRef } from 'preact/hooks'
import { ApiError, api, type WithBody } from './api.ts'
import { randomHex } from './random-hex.ts'

/** Posts the content of a form. */
export type PostOnce = WithBody<'post'>

/**
 * Posts a creation so that it takes effect once, even if its reply is lost and the person retries. The same body keeps
 * its `Idempotency-Key` until its outcome is known.
 */
export function usePostOnce(): PostOnce {
  const unknown = useRef<{ content: string; key: string } | null>(null)
  const post = async (path: string, body: unknown, options = {}) => {
    const content = JSON.stringify([path, body])
    const key = unknown.current?.content === content ? unknown.current.key : randomHex()
    unknown.current = { content, key }
    try {
      const reply = await api.post<unknown>(path, body, { ...options, headers: { 'idempotency-key': key } })
      unknown.current = null
      return reply
    } catch (error) {
      if (isKnown(error)) unknown.current = null
      throw error
    }
  }
  return post as PostOnce
}

/** Tells whether an error states the outcome of a request: a refusal does, silence and network faults do not. */
const isKnown = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500 && error.code !== 'idempotency_in_flight'

/**
 * Waits for a reply that holds a secret, which is not kept for retries.
 *
 * @param lost message for a retry after the first reply was lost
 */
export async function secretReply<T>(reply: Promise<T>, lost: string): Promise<T> {
  try {
    return await reply
  } catch (error) {
    throw error instanceof ApiError && error.code === 'idempotency_reply_not_kept' ? new Error(lost) : error
  }
}
