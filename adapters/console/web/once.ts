import { useRef } from 'preact/hooks'
import { ApiError, api } from './api.ts'
import { randomHex } from './random-hex.ts'

/** Posts what a form has. */
export type PostOnce = <T>(path: string, body: unknown, options?: { timeoutMs?: number }) => Promise<T>

/**
 * Posts what makes something so that it is made once, also where the reply was lost and the person asks again: the same
 * body has the same `Idempotency-Key` until it is known what became of it.
 */
export function usePostOnce(): PostOnce {
  const unknown = useRef<{ content: string; key: string } | null>(null)
  return async <T>(path: string, body: unknown, options = {}) => {
    const content = JSON.stringify([path, body])
    const key = unknown.current?.content === content ? unknown.current.key : randomHex()
    unknown.current = { content, key }
    try {
      const reply = await api.post<T>(path, body, { ...options, headers: { 'idempotency-key': key } })
      unknown.current = null
      return reply
    } catch (error) {
      if (isKnown(error)) unknown.current = null
      throw error
    }
  }
}

/** Tells whether an error states the outcome of a request: a refusal does, silence and network faults do not. */
const isKnown = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500 && error.code !== 'idempotency_in_flight'
