const K1 = 1.2
const B = 0.75
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z0-9_]+/g) ?? []

/** BM25 over the words of texts as they stand, for comparison: the paths, best first. */
export function createPlainBm25(texts: ReadonlyMap<string, string>): (query: string) => string[] {
  const files = [...texts].map(([path, text]) => {
    const words = wordsOf(text)
    const counts = new Map<string, number>()
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
    return { path, counts, length: words.length }
  })
  const average = files.reduce((sum, { length }) => sum + length, 0) / Math.max(1, files.length)

  return function search(query) {
    const terms = [...new Set(wordsOf(query))].map((word) => {
      const holders = files.filter(({ counts }) => counts.has(word)).length
      return { word, idf: Math.log(1 + (files.length - holders + 0.5) / (holders + 0.5)) }
    })
    const score = ({ counts, length }: (typeof files)[number]) =>
      terms.reduce((sum, { word, idf }) => {
        const times = counts.get(word) ?? 0
        return sum + (idf * times * (K1 + 1)) / (times + K1 * (1 - B + (B * length) / average))
      }, 0)
    return files
      .map((file) => ({ path: file.path, score: score(file) }))
      .filter((file) => file.score > 0)
      .sort((a, b) => b.score - a.score)
      .map(({ path }) => path)
  }
}
