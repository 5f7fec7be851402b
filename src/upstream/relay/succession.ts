/** What sends requests and is replaced when settings change. */
export interface Replaceable {
  /** Resolves once nothing is under way. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** Those that took each other's place, as far as they are in use. */
export interface Succession<T extends Replaceable> {
  /** Puts `next` in the place of the newest. @returns it */
  put(next: T): T
  /** Closes the newest, and the earlier ones on which something is under way. */
  close(): Promise<void>
}

/**
 * An earlier one is left to what is under way on it, and then let go, not closed: a request may still have to turn to it a
 * second time. Its connections close as they do when nothing comes over them.
 */
export function createSuccession<T extends Replaceable>(): Succession<T> {
  const open = new Set<T>()
  let newest: T | undefined
  return {
    put(next) {
      const earlier = newest
      newest = next
      open.add(next)
      void earlier?.idle().then(() => open.delete(earlier))
      return next
    },
    async close() {
      await Promise.all([...open].map((one) => one.close()))
    },
  }
}
