/** A resource that sends requests and is replaced when settings change. */
export interface Replaceable {
  /** Calls `listener` whenever requests start to be in flight, and when none is left. */
  watch(listener: (busy: boolean) => void): void
  close(): Promise<void>
}

/** Successive versions of a resource; old ones stay open until idle. */
export interface Succession<T extends Replaceable> {
  /**
   * Replaces the newest version by `next`.
   *
   * @returns `next`
   */
  put(next: T): T
  /** Closes the newest version, and older ones that are busy. */
  close(): Promise<void>
}

/**
 * Creates a succession. An older version finishes its requests in flight. It is then dropped, not closed, because a
 * request may still retry on it. Its connections close when idle.
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
