import { signal } from '@preact/signals'
import { ApiError } from '../api.ts'
import { Button } from './fields.tsx'
import type { Tone } from './inline.tsx'

interface Notice {
  id: number
  text: string
  tone: Tone
}

/** Lifetime of a notice in milliseconds. */
const SHOWN_MS = 6000
const notices = signal<Notice[]>([])
let made = 0

/** Shows a notice in a corner for a few seconds. */
export function notify(text: string, tone: Tone = 'good'): void {
  const id = ++made
  notices.value = [...notices.value, { id, text, tone }]
  setTimeout(() => {
    notices.value = notices.value.filter((notice) => notice.id !== id)
  }, SHOWN_MS)
}

/** Current notices. */
export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text, tone }) => (
        <p key={id} class={`notice ${tone}`}>
          {text}
        </p>
      ))}
    </div>
  )
}

/** Shows the message of an error; nothing for null. */
export function ErrorNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (error === null || error === undefined) return null
  return (
    <div class="error-note" role="alert">
      <p>{messageOf(error)}</p>
      {onRetry && <Button size="small" onClick={onRetry} children="Retry" />}
    </div>
  )
}

/** Message of an error. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError && error.code === 'insufficient_scope') {
    return `${error.message} Sign in with an admin key.`
  }
  if (error instanceof ApiError && error.code === 'idempotency_in_flight') {
    return 'The first request is still in progress. Retry soon to see its result.'
  }
  return error instanceof Error ? error.message : String(error)
}

/** Progress message of the first load. */
export function Loading({ what }: { what: string }) {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" /> Loading {what}…
    </p>
  )
}

/** Shown in place of data that is not there: the error of its request, or its progress. */
export function NotLoaded({ of, what }: { of: { error: unknown; reload: () => void }; what: string }) {
  return of.error ? <ErrorNote error={of.error} onRetry={of.reload} /> : <Loading what={what} />
}
