import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { linesOutsideCode } from './prose.ts'

/** The page that says what is written instead of what. */
const GLOSSARY = 'docs/glossary.md'

interface Replaced {
  pattern: RegExp
  instead: string
  isForCode: boolean
}

/**
 * Finds terms that the glossary replaces: in pages, and in the comments and messages of code.
 *
 * @param root the folder that `pages` and `sources` start at
 * @returns one sentence for each occurrence, beginning with `file:line`
 */
export function replacedTerms(root: string, pages: readonly string[], sources: readonly string[]): string[] {
  const terms = termsOf(readFileSync(join(root, GLOSSARY), 'utf8'))
  const forCode = terms.filter(({ isForCode }) => isForCode)
  return [
    ...pages
      .filter((page) => page !== GLOSSARY)
      .flatMap((page) => faultsIn(page, linesOutsideCode(readFileSync(join(root, page), 'utf8')), terms)),
    ...sources.flatMap((file) => faultsIn(file, wordsOfCode(readFileSync(join(root, file), 'utf8')), forCode)),
  ]
}

/** The table under "Do not write". */
function termsOf(glossary: string): Replaced[] {
  const [, table = ''] = glossary.split('\n## Do not write\n')
  const rows = table.split('\n').filter((line) => line.startsWith('| '))
  return rows.slice(2).map((row) => {
    const [, avoided = '', instead = '', where = ''] = row.split('|').map((cell) => cell.trim())
    const words = avoided.split(', ').map((word) => word.replaceAll(' ', '\\s+'))
    return { pattern: new RegExp(`\\b(?:${words.join('|')})s?\\b`, 'i'), instead, isForCode: where.includes('code') }
  })
}

/** The docstrings and comments of a source file, and its strings of more than one word: what people read. */
function wordsOfCode(code: string): Array<{ line: number; text: string }> {
  return code.split('\n').map((text, i) => {
    const [, comment = ''] = /(?:^\s*(?:\/\*\*?|\*|\/\/)|\s\/\/ )(.*)$/.exec(text) ?? []
    const strings = text.match(/'[^']* [^']*'|"[^"]* [^"]*"|`[^`]* [^`]*`/g) ?? []
    return { line: i + 1, text: [comment, ...strings.map((string) => string.slice(1, -1))].join(' ') }
  })
}

function faultsIn(
  file: string,
  lines: ReadonlyArray<{ line: number; text: string }>,
  terms: readonly Replaced[],
): string[] {
  return lines.flatMap(({ line, text }, i) => {
    // A term may go on in the next line.
    const joined = `${text.trim()} ${lines[i + 1]?.text.trim() ?? ''}`
    return terms.flatMap(({ pattern, instead }) => {
      const found = pattern.exec(joined)
      if (found === null || found.index >= text.trim().length) return []
      return [`${file}:${line}: "${found[0]}" is replaced by ${instead} (${GLOSSARY}).`]
    })
  })
}
