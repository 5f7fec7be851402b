import type { FileKind } from './file-kind.ts'

/**
 * The weights of the ranking, fitted by `bench/fit-context.ts` on questions about repositories that the bench does not
 * judge.
 */
export const WEIGHTS = {
  /** Of BM25: how soon more of a word says no more, and how far long files are held back. */
  k1: 2.88,
  b: 0.75,
  /** Parts of a word's idf for having it in a folder's name, in the file's name, in the name of a definition. */
  folder: 0.5,
  name: 2,
  definition: 1,
  /** Factor on the score of a file of each kind, unless the query asks for that kind. */
  kinds: {
    test: 0.35,
    example: 0.35,
    operations: 0.3,
    data: 0.3,
    generated: 0.3,
    changelog: 0.4,
    prose: 0.5,
  } satisfies Record<FileKind, number> as Record<FileKind, number>,
}
export type Weights = typeof WEIGHTS
