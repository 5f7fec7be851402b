import type { FileKind } from './file-kind.ts'

/**
 * Weights of the ranking. `bench/fit-context.ts` fits them to questions about repositories that the bench does not use.
 */
export const WEIGHTS = {
  /** Parameters of BM25: saturation of term frequency (`k1`) and normalization by length (`b`). */
  k1: 2.88,
  b: 0.75,
  /** Factors on a term's idf when the term is in a folder's name, a file's name, or a definition's name. */
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
