import matter from 'gray-matter'
import yaml from 'js-yaml'
import { FRONT_MATTER_BYTES } from './skill.ts'

/** Blanks in a row, line ends among them: gray-matter takes time by the square of them, 5 s for 60,000. */
const MOST_BLANKS = 200
/**
 * What a front matter may hold, and how deep: YAML's anchors let a few lines stand for millions of values, and one long
 * text for thousands.
 */
const MOST_VALUES = 2000
const DEEPEST = 12

/** What a SKILL.md says before its instructions, and those. */
export interface FrontMatter {
  /** As YAML reads it: numbers, booleans, times. */
  data: Record<string, unknown>
  /** The same with the text that was written in place of those: `1.10`, which `data` has as 1.1. */
  written: Record<string, unknown>
  content: string
}

/** No language but YAML: gray-matter would otherwise evaluate JavaScript that follows the opening line. */
const ENGINES = { javascript: refused, json: refused, coffee: refused, toml: refused }

/** YAML whose values are texts, lists, maps and nothing else but null: what these types would read is left as it is. */
const AS_WRITTEN = new yaml.Schema({
  include: [yaml.DEFAULT_SAFE_SCHEMA],
  implicit: ['bool', 'int', 'float', 'timestamp'].map(
    (name) => new yaml.Type(`tag:yaml.org,2002:${name}`, { kind: 'scalar' }),
  ),
})
const loadAsWritten = (text: string) => yaml.safeLoad(text, { schema: AS_WRITTEN }) as object
const writtenIn = (skill: string) => matter(skill, { engines: { ...ENGINES, yaml: loadAsWritten } }).data

/**
 * Takes a SKILL.md apart. Its values come back as JSON: times as text, and nothing that JSON has no form for.
 *
 * @throws Error in words for the author of the skill
 */
export function parseFrontMatter(text: string): FrontMatter {
  const plain = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const opening = plain.slice(0, plain.indexOf('\n') >>> 0).trimEnd()
  if (opening !== '---') throw new Error('It does not begin with front matter: a line "---", YAML, and another "---".')
  const end = plain.slice(0, FRONT_MATTER_BYTES).search(/\n---[ \t]*(?:\n|$)/)
  if (end === -1) throw new Error('Its front matter does not end with a line "---" within 64 KiB.')
  if (new RegExp(`\\s{${MOST_BLANKS}}`).test(plain.slice(0, end)))
    throw new Error(`Its front matter has ${MOST_BLANKS} blanks or empty lines in a row.`)
  const { data, content } = matter(plain, { engines: ENGINES })
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new Error('Its front matter is not a list of "key: value" lines.')
  return { data: plainObject(data), written: plainObject(writtenIn(plain)), content: content.replace(/^\n+/, '') }
}

function plainObject(data: object): Record<string, unknown> {
  let values = 0
  let characters = 0
  return plainly(data, 0) as Record<string, unknown>

  function plainly(value: unknown, depth: number): unknown {
    values++
    if (values > MOST_VALUES || depth > DEEPEST) throw new Error('Its front matter has too many values.')
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
    if (Array.isArray(value)) return value.map((item) => plainly(item, depth + 1))
    if (typeof value === 'number') return Number.isFinite(value) ? value : null
    if (typeof value === 'boolean') return value
    if (typeof value === 'string') return counted(value)
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return null
    const entries = Object.entries(value).map(([key, inner]) => [counted(key), plainly(inner, depth + 1)] as const)
    return Object.fromEntries(entries)
  }
  function counted(text: string): string {
    characters += text.length
    if (characters > FRONT_MATTER_BYTES) throw new Error('Its front matter has too much text.')
    return text
  }
}

function refused(): never {
  throw new Error('Its front matter is not YAML.')
}
