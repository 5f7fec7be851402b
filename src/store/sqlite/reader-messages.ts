/** Data that starts the reader's thread: the database's URL or file. */
export interface ReaderData {
  location: string
  isUrl: boolean
}

/** Request to the thread: a statement, or the next rows of the last one. */
export type Question = { sql: string; parameters: readonly unknown[] } | 'more'

/** The next rows of a statement. `done` marks the last batch. */
export interface Batch {
  columns: string[]
  rows: unknown[][]
  done: boolean
}
