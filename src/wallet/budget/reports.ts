/** Reports of one kind, and who listens to them. */
export interface Reports<T> {
  report(of: T): void
  /** @returns a function that removes the listener */
  listen(listener: (of: T) => void): () => void
}

/** Creates the reports of one kind in this process. */
export function createReports<T>(): Reports<T> {
  const listeners = new Set<(of: T) => void>()
  return {
    report(of) {
      for (const listener of listeners) listener(of)
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
