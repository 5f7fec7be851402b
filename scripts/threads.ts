import type { BuildOptions } from 'esbuild'

/** Sources of the worker threads, named as in the `ThreadCode` of each. */
const THREADS = {
  'threads/sqlite-reader': 'src/store/sqlite/reader-thread.ts',
  'threads/gaze-analysis': 'src/gaze/analysis-thread.ts',
  'threads/context-index': 'src/context/search/index-thread.ts',
  'threads/context-walk': 'src/context/walk-thread.ts',
}

/**
 * Options of esbuild for worker threads: they are run from memory, where there are no modules beside them.
 *
 * @param options those of the code that starts the threads
 */
export const asThreads = <Options extends BuildOptions>(options: Options) => ({
  ...options,
  entryPoints: THREADS,
  splitting: false,
  format: 'cjs' as const,
  outExtension: { '.js': '.cjs' },
  banner: {},
  define: { ...options.define, 'import.meta.url': 'THREAD_URL', 'import.meta.resolve': 'undefined' },
})
