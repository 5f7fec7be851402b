import { signal } from '@preact/signals'
import { ApiError } from '../api.ts'
import { Button } from './fields.tsx'
import type { Tone } from './layout.tsx'

interface Notice {
  id: number
  text: string
  tone: Tone
}

/** Lifetime of a notice in milliseconds. */
const SHOWN_MS = 6000
const notices = signal<Notice[]>([])
let made = 0

/** Tells that something was done, in a corner, for a few seconds. */
export function notify(text: string, tone: Tone = 'good'): void {
  const id = ++made
  notices.value = [...notices.value, { id, text, tone }]
  setTimeout(() => {
    notices.value = notices.value.filter((notice) => notice.id !== id)
  }, SHOWN_MS)
}

/** The notices of the moment. */
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

/** Shows an error in the words of the API; nothing for null. */
export function ErrorNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (error === null || error === undefined) return null
  return (
    <div class="error-note" role="alert">
      <p>{messageOf(error)}</p>
      {onRetry && (
        <Button size="small" onClick={onRetry}>
          Retry
        </Button>
      )}
    </div>
  )
}

/** An error in words. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError && error.code === 'insufficient_scope') {
    return `${error.message} Sign in with an admin key.`
  }
  if (error instanceof ApiError && error.code === 'idempotency_in_flight') {
    return 'The first request is still in progress. Retry soon to see its result.'
  }
  return error instanceof Error ? error.message : String(error)
}

/** Shown while something is fetched for the first time. */
export function Loading({ what }: { what: string }) {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" /> Loading {what}…
    </p>
  )
}
