/** What sends requests and is replaced when settings change. */
export interface Replaceable {
  /** Tells `listener` from now on when something is under way, and when nothing is any more. */
  watch(listener: (busy: boolean) => void): void
  close(): Promise<void>
}

/** Those that took each other's place, as far as they are in use. */
export interface Succession<T extends Replaceable> {
  /** Puts `next` in the place of the newest. @returns it */
  put(next: T): T
  /** Closes the newest, and the earlier ones on which something is under way just now. */
  close(): Promise<void>
}

/**
 * An earlier one is left to what is under way on it, and then let go, not closed: a request may still have to turn to it a
 * second time. Its connections close as they do when nothing comes over them.
 */
export function createSuccession<T extends Replaceable>(): Succession<T> {
  const busy = new Set<T>()
  let newest: T | undefined
  return {
    put(next) {
      newest = next
      next.watch((isBusy) => (isBusy ? busy.add(next) : busy.delete(next)))
      return next
    },
    async close() {
      const open = new Set(busy)
      if (newest) open.add(newest)
      await Promise.all([...open].map((one) => one.close()))
    },
  }
}
