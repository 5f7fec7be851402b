/** A fenced block of a page. */
export interface Block {
  language: string
  text: string
}

/** The fenced blocks of a page, in order. */
export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({ language, text }))
}

/** Text of a page below a heading; empty if the page lacks the heading. */
export function sectionOf(page: string, heading: string): string {
  return page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
}

/** The rows of the table under a heading, without its head; each cell as it stands there. */
export function tableUnder(page: string, heading: string): string[][] {
  const lines = sectionOf(page, heading)
    .split('\n')
    .filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** The words in backticks inside a text. */
export function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)
}

/** Variables that a block of shell commands sets. */
export function variablesOf(shell: string): Record<string, string> {
  return Object.fromEntries([...shell.matchAll(/([A-Z_]+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]))
}
