/** What the reader's thread is started with: the address of the database where it is a URL, else its file. */
export interface ReaderData {
  location: string
  isUrl: boolean
}

/** A statement, or that the next rows of the last one are wanted. */
export type Question = { sql: string; parameters: readonly unknown[] } | 'more'

/** The next rows of a statement, and whether they are the last. */
export interface Batch {
  columns: string[]
  rows: unknown[][]
  done: boolean
}
