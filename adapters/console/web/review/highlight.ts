import bash from 'highlight.js/lib/languages/bash'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'

const LANGUAGES = { bash, cpp, csharp, css, go, ini, java, json, python, ruby, rust, sql, typescript, xml, yaml }

/** Endings of file names, by language. */
const ENDINGS: Readonly<Record<keyof typeof LANGUAGES, string>> = {
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

const byEnding = new Map(
  Object.entries(ENDINGS).flatMap(([language, endings]) => endings.split(' ').map((ending) => [ending, language])),
)
const lowlight = createLowlight(LANGUAGES)

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
export function coloured(path: string, lines: readonly string[]): Coloured[][] {
  const plain = () => lines.map((text) => [{ text, classes: '' }])
  const language = byEnding.get(path.split('.').at(-1)?.toLowerCase() ?? '')
  const whole = lines.join('\n')
  if (language === undefined || whole.length > MOST_CHARACTERS) return plain()
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
