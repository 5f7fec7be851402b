const waiting = new Set<() => Promise<unknown>>()

/**
 * Defers loading a module until it is first needed, or until {@link loadAll}.
 *
 * @returns a function that gives the module; a failed load is final, since Node caches it
 * @example
 * const zlib = lazily(() => import('node:zlib'))
 * const { gzipSync } = await zlib()
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
 * Loads all lazily loaded modules. A service calls it before it listens. Later a load may fail, because no file
 * descriptor is left or an update replaced the files, and only a restart helps.
 */
export async function loadAll(): Promise<void> {
  // Includes those registered while loading.
  for (const part of waiting) await part()
}
