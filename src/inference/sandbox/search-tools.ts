import { keywordsOf } from './extract.ts'

/** The search tools that the sandbox has on its own side. */
export type SearchTool = 'web_search' | 'x_search'

/** A page that a search pretends to have found; its address is under `.invalid` (RFC 2606) and leads nowhere. */
interface SearchResult {
  url: string
  title: string
}

/** A search and what it found. */
export interface Search {
  tool: SearchTool
  query: string
  results: SearchResult[]
}

/** A source named in a text, with the UTF-16 positions of its marker there. */
export interface Citation extends SearchResult {
  start: number
  end: number
}

const SITES = {
  web_search: { folder: 'web', title: 'Sandbox web result', results: 2 },
  x_search: { folder: 'x', title: 'Sandbox X post', results: 1 },
} as const

/** Searches for what `question` is about. Nothing is looked up: the results are made up, the same each time, and say so. */
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

/** `text` with a numbered Markdown link for each result, as xAI writes its inline citations, and where the links are. */
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
