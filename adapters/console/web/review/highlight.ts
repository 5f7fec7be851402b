import { signal } from '@preact/signals'
import type { LanguageFn } from 'highlight.js'
import { createLowlight } from 'lowlight'
import type { Hunk } from '../../../../src/review/change-parts.ts'
import { decoded } from './line-text.tsx'

/** Languages, each a file of its own, which is loaded for the first lines in it. */
const LANGUAGES = {
  bash: () => import('highlight.js/lib/languages/bash'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  go: () => import('highlight.js/lib/languages/go'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  json: () => import('highlight.js/lib/languages/json'),
  python: () => import('highlight.js/lib/languages/python'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  sql: () => import('highlight.js/lib/languages/sql'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
}
type Language = keyof typeof LANGUAGES

/** Endings of file names, by language. */
const ENDINGS: Readonly<Record<Language, string>> = {
  bash: 'sh bash zsh',
  cpp: 'c cc cpp cxx h hh hpp',
  csharp: 'cs',
  css: 'css',
  go: 'go',
  ini: 'ini toml cfg',
  java: 'java',
  json: 'json jsonc',
  python: 'py pyi',
  ruby: 'rb',
  rust: 'rs',
  sql: 'sql',
  typescript: 'ts tsx mts cts js jsx mjs cjs',
  xml: 'xml html htm svg vue',
  yaml: 'yaml yml',
}
/** Languages that stand inside of others. */
const INSIDE: Partial<Record<Language, readonly Language[]>> = { typescript: ['xml'], xml: ['css', 'typescript'] }

const byEnding = new Map(
  (Object.keys(ENDINGS) as Language[]).flatMap((name) => ENDINGS[name].split(' ').map((ending) => [ending, name])),
)
const lowlight = createLowlight()
const asked = new Set<Language>()

/** Number of times that languages were loaded. Lines in others are plain until then. */
export const languagesLoaded = signal(0)

/** Finds the language of a file, and asks for it once. Null for a file without one, and while it is loaded. */
function languageOf(path: string): Language | null {
  const language = byEnding.get(path.split('.').at(-1)?.toLowerCase() ?? '')
  if (language === undefined) return null
  if (lowlight.registered(language)) return language
  if (!asked.has(language)) void load(language)
  return null
}

async function load(language: Language): Promise<void> {
  asked.add(language)
  const names = [language, ...(INSIDE[language] ?? [])]
  const found = await Promise.all(names.map((name) => LANGUAGES[name]()))
  lowlight.register(Object.fromEntries(names.map((name, at) => [name, found[at]?.default as LanguageFn])))
  languagesLoaded.value++
}

/** Characters above which lines are not coloured, as that would take too long. */
const MOST_CHARACTERS = 50_000

/** A stretch of a line in one colour. */
export interface Coloured {
  text: string
  /** Classes of highlight.js; empty for plain text. */
  classes: string
}

/**
 * Colours lines that follow each other. Each is then the same text in stretches.
 *
 * @param path of the file; its ending says the language
 * @param lines without their newlines
 */
function coloured(path: string, lines: readonly string[]): Coloured[][] {
  const plain = () => lines.map((text) => [{ text, classes: '' }])
  const language = languageOf(path)
  const whole = lines.join('\n')
  if (language === null || whole.length > MOST_CHARACTERS) return plain()
  const found = splitLines(lowlight.highlight(language, whole).children, '')
  // What is shown is what is signed, whatever the library makes of it.
  const isSame = found.map((line) => line.map(({ text }) => text).join('')).join('\n') === whole
  return isSame ? found : plain()
}

type Node = ReturnType<typeof lowlight.highlight>['children'][number]

function splitLines(nodes: readonly Node[], classes: string): Coloured[][] {
  const lines: Coloured[][] = [[]]
  for (const node of nodes) {
    const [first = [], ...rest] = linesOf(node, classes)
    lines.at(-1)?.push(...first)
    lines.push(...rest)
  }
  return lines
}

function linesOf(node: Node, classes: string): Coloured[][] {
  if (node.type === 'text') return node.value.split('\n').map((text) => [{ text, classes }])
  if (node.type !== 'element') return [[]]
  const names = node.properties.className
  return splitLines(node.children, [classes, ...(Array.isArray(names) ? names : [])].join(' ').trim())
}

/**
 * Colours rows of a hunk. The lines of the old and of the new file are read apart, as a removed line may begin a string that
 * no added one ends.
 */
export function colouredRows(path: string, rows: Hunk['rows']): Coloured[][] {
  const texts = rows.map(({ text }) => decoded(text.endsWith('\n') ? text.slice(0, -1) : text))
  const side = (other: '+' | '-') => {
    const indexes = [...rows.keys()].filter((index) => rows[index]?.kind !== other)
    const lines = coloured(
      path,
      indexes.map((index) => texts[index] ?? ''),
    )
    return new Map(indexes.map((index, at) => [index, lines[at] ?? []]))
  }
  const [old, now] = [side('+'), side('-')]
  return rows.map((_, index) => now.get(index) ?? old.get(index) ?? [])
}
