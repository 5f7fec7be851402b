import type { Pool } from 'undici'
import { lazily } from './lazily.ts'

const loadUndici = lazily(() => import('undici'))

/** How long Node's `fetch` waits by itself for the head of a reply, and between two pieces of its body. */
const FETCH_WAITS_MS = 300_000

/**
 * Node's `fetch` for one server, which waits for as long as its caller does: where that is longer than `fetch` would by
 * itself, over connections without a limit of their own.
 *
 * @param silenceMs how long the server may be silent; its caller ends the request then
 */
export function patientFetch(baseUrl: string, silenceMs: number): (request: Request) => Promise<Response> {
  if (silenceMs < FETCH_WAITS_MS) return (request) => fetch(request)
  let opening: Promise<Pool> | undefined
  return async (request) => {
    opening ??= loadUndici().then(
      ({ Pool }) => new Pool(new URL(baseUrl).origin, { headersTimeout: 0, bodyTimeout: 0 }),
    )
    // Node's types know `fetch` by another release of undici.
    return fetch(request, { dispatcher: await opening } as unknown as RequestInit)
  }
}
