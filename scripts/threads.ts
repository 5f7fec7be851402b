/** Sources of the worker threads, named as in the `ThreadCode` of each. */
export const THREADS = {
  'threads/sqlite-reader': 'src/store/sqlite/reader-thread.ts',
  'threads/gaze-analysis': 'src/gaze/analysis-thread.ts',
  'threads/context-index': 'src/context/search/index-thread.ts',
  'threads/context-walk': 'src/context/walk-thread.ts',
}
