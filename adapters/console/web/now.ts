import { signal } from '@preact/signals'

/**
 * Current time in milliseconds, updated each second while the page is visible. Components that read it are rendered
 * again.
 */
export const now = signal(Date.now())

setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 1000)
