const waiting = new Set<() => Promise<unknown>>()

/**
 * A part of Gazeway that is loaded when it is first needed, and by {@link loadAll}.
 *
 * @returns what gives the part; a failure to load it is for good, as Node keeps it in mind
 */
export function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  function part(): Promise<T> {
    waiting.delete(part)
    loading ??= load()
    return loading
  }
  waiting.add(part)
  return part
}

/**
 * Loads all that is loaded lazily by the modules that are there. A service does so before it listens: what is first needed
 * while the process has no file descriptor left, or after an update took its files, is lost until a restart.
 */
export async function loadAll(): Promise<void> {
  // Those that come with one of them, too.
  for (const part of waiting) await part()
}
