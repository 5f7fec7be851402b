import { keywordsOf } from './extract.ts'

/** Search tools that the sandbox runs itself. */
export type SearchTool = 'web_search' | 'x_search'

/** An invented search result. Its address is under `.invalid` (RFC 2606). */
interface SearchResult {
  url: string
  title: string
}

/** A search with its results. */
export interface Search {
  tool: SearchTool
  query: string
  results: SearchResult[]
}

/** A source cited in a text, with the UTF-16 positions of its marker. */
export interface Citation extends SearchResult {
  start: number
  end: number
}

const SITES = {
  web_search: { folder: 'web', title: 'Sandbox web result', results: 2 },
  x_search: { folder: 'x', title: 'Sandbox X post', results: 1 },
} as const

/**
 * Searches for the subject of `question`. Nothing is looked up: the results are invented, deterministic, and labelled
 * as such.
 */
export function search(tool: SearchTool, question: string): Search {
  const { folder, title, results } = SITES[tool]
  const words = keywordsOf([question], 6)
  const query = words.join(' ') || 'sandbox'
  const slug = encodeURIComponent(words.join('-') || 'sandbox')
  return {
    tool,
    query,
    results: Array.from({ length: results }, (_, at) => ({
      url: `https://sandbox.invalid/${folder}/${slug}/${at + 1}`,
      title: `${title} ${at + 1} (not a real page): ${query}`,
    })),
  }
}

/** Appends a numbered Markdown link per result, as xAI writes inline citations. Returns the positions of the links. */
export function cite(text: string, searches: Search[]): { text: string; citations: Citation[] } {
  const citations: Citation[] = []
  let cited = text
  for (const [at, result] of searches.flatMap(({ results }) => results).entries()) {
    const link = `[[${at + 1}]](${result.url})`
    citations.push({ ...result, start: cited.length + 1, end: cited.length + 1 + link.length })
    cited += ` ${link}`
  }
  return { text: cited, citations }
}
