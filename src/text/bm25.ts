/**
 * Parameters of BM25 (Robertson and Zaragoza, "The probabilistic relevance framework: BM25 and beyond", 2009): saturation
 * of repeated terms (`k1`), and influence of a document's length (`b`, 0–1).
 */
interface Bm25 {
  k1: number
  b: number
}

/** Usual parameters. */
const BM25: Bm25 = { k1: 1.2, b: 0.75 }

/**
 * Inverse document frequency, above zero: the information of a term.
 *
 * @param count number of documents
 * @param holders number of documents with the term
 */
export const inverseFrequency = (count: number, holders: number): number =>
  Math.log(1 + (count - holders + 0.5) / (holders + 0.5))

/** Norm of a document's length, 1 for one of average length. */
export const lengthNorm = (length: number, average: number, { b } = BM25): number => 1 - b + (b * length) / average

/** Weight of a term by its occurrences in a document, 0–1. */
export const saturation = (occurrences: number, norm = 1, { k1 } = BM25): number =>
  occurrences / (occurrences + k1 * norm)
