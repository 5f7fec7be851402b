/**
 * Creates the list of an event's listeners.
 *
 * @param onError called when one fails; the others are still told
 */
export function createListeners<Args extends unknown[]>(onError: (error: unknown) => void) {
  const listeners = new Set<(...args: Args) => void>()
  return {
    /** @returns a function that removes the listener */
    add(listener: (...args: Args) => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    tell(...args: Args): void {
      for (const listener of listeners) {
        try {
          listener(...args)
        } catch (error) {
          onError(error)
        }
      }
    },
    count: () => listeners.size,
  }
}
