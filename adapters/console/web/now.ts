import { signal } from '@preact/signals'

/** The present in milliseconds, as of the last second: what reads it is drawn again as time goes by. */
export const now = signal(Date.now())

setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 1000)
