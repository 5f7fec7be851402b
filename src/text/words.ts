import { normalized } from './normalized.ts'

/** Scripts that are written without spaces: their characters are indexed one by one and searched in pairs. */
const UNSPACED = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}ー'
/** What a character takes along: marks, as the vowel signs of India are, and the joiners that shape letters. */
const UPON_IT = '[\\p{M}\\u200c\\u200d]*'
const UNSPACED_CHARACTER = `(?!\\p{M})[${UNSPACED}]${UPON_IT}`
const SPACED_WORD = `(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{Co}]${UPON_IT})+`
const UNSPACED_CHARACTERS = new RegExp(UNSPACED_CHARACTER, 'gu')
const WORD = new RegExp(`${UNSPACED_CHARACTER}|${SPACED_WORD}`, 'gu')
const RUN = new RegExp(`(?:${UNSPACED_CHARACTER})+|${SPACED_WORD}`, 'gu')
/**
 * Marks that people leave out or that only shape a letter: accents and points of Latin, Greek, Cyrillic, Hebrew and Arabic,
 * enclosing marks, variation selectors, joiners. By blocks, because releases of Unicode give marks other scripts.
 */
const LEFT_OUT = new RegExp(
  '(?=\\p{M})(?:[\\u0300-\\u06ff]|[\\u0870-\\u08ff]|[\\u1ab0-\\u1aff]|[\\u1dc0-\\u1dff]|[\\u20d0-\\u20ff]|[\\ufe00-\\ufe2f]|[\\u{e0100}-\\u{e01ef}])' +
    '|[\\u200c\\u200d]',
  'gu',
)

const BEYOND_ASCII = /[^\0-\x7f]/
const RUN_OF_ASCII_OR_ONE = /[\0-\x7f]+|[^\0-\x7f]/gu

/** Characters of a long text whose words are taken. */
const LOOKED_AT = 20_000

/** A word of a text and where it starts in the composed text, as {@link normalized} has it in NFC (UTF-16 units). */
export interface Word {
  text: string
  start: number
}

/** Letters of the Latin alphabet that do not decompose, as they are written where a keyboard lacks them. */
const PLAIN: Record<string, string> = { ł: 'l', ø: 'o', đ: 'd', ß: 'ss', æ: 'ae', œ: 'oe', ı: 'i', ς: 'σ' }
const WITH_PLAIN = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g')

/**
 * `text` without case, accents, points and compatibility forms (ligatures, full and half widths, superscripts: NFKD):
 * words that fold alike are the same to a search.
 */
export function fold(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase()
  const lower = normalized(normalized(text, 'NFKD').replace(LEFT_OUT, ''), 'NFC').toLowerCase()
  return lower.replace(WITH_PLAIN, (letter) => PLAIN[letter] ?? letter)
}

/**
 * The words of `text`, folded, in order; each character of an unspaced script is a word. Decomposed text, as macOS writes
 * file names, has the words of the composed one.
 */
export function* wordsOf(text: string): Generator<Word> {
  const composed = normalized(text, 'NFC')
  const { plain, starts } = withoutForms(composed)
  for (const { 0: word, index } of plain.matchAll(WORD)) yield { text: fold(word), start: starts?.[index] ?? index }
}

/** `composed` without compatibility forms, which may hold several words, and where each unit of it was; null: at its own place. */
function withoutForms(composed: string): { plain: string; starts: number[] | null } {
  if (composed.normalize('NFKC') === composed) return { plain: composed, starts: null }
  const starts: number[] = []
  let plain = ''
  for (const { 0: run, index } of composed.matchAll(RUN_OF_ASCII_OR_ONE)) {
    const form = run.normalize('NFKC')
    for (let i = 0; i < form.length; i++) starts.push(form === run ? index + i : index)
    plain += form
  }
  return { plain, starts }
}

/** The words of `text` as they are written, without compatibility forms; characters of an unspaced script in a row are one. */
export function* runsOf(text: string): Generator<string> {
  for (const [run] of withoutForms(normalized(text, 'NFC')).plain.matchAll(RUN)) yield run
}

/** The distinct words of texts, folded and shortened; 20,000 characters of each text are looked at. */
export function distinctWords(...texts: string[]): string[] {
  const words = new Set<string>()
  for (const text of texts) for (const word of wordsOf(text.slice(0, LOOKED_AT))) words.add(shortened(word.text))
  return [...words]
}

/** The first 64 letters of a word, which tell it from others; PostgreSQL refuses words of more than 2 KB. */
export const shortened = (word: string): string => [...word].slice(0, 64).join('')

/**
 * The distinct words of a query, folded, at most `limit`. A run of an unspaced script becomes its overlapping pairs of
 * characters, each written with a space between: a phrase of the index.
 *
 * @example queryWords('Café 数据库', 24) // ['cafe', '数 据', '据 库']
 */
export function queryWords(query: string, limit: number): string[] {
  const words = new Set<string>()
  for (const [run] of fold(query).matchAll(RUN)) {
    for (const word of isUnspaced(run) ? pairs(run) : [run]) words.add(word)
    if (words.size >= limit) break
  }
  return [...words].slice(0, limit)
}

/** Whether `word` is of a script that is written without spaces. */
export const isUnspaced = (word: string): boolean => word.search(UNSPACED_CHARACTERS) === 0

/** The characters of an unspaced script in `run`, each with what it takes along. */
export const charactersOf = (run: string): string[] => run.match(UNSPACED_CHARACTERS) ?? []

function pairs(run: string): string[] {
  const characters = charactersOf(run)
  if (characters.length === 1) return characters
  return characters.slice(1).map((character, i) => `${characters[i]} ${character}`)
}

/** All the text inside a JSON value, property names included, in order, as one line for each string or number. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const found: string[] = []
  const rest: unknown[] = [value]
  while (rest.length > 0) {
    const item = rest.pop()
    // One by one: a call takes no more than some 100,000 arguments.
    if (Array.isArray(item)) for (const part of item.toReversed()) rest.push(part)
    else if (typeof item === 'object' && item !== null)
      for (const [name, part] of Object.entries(item).reverse()) rest.push(part, name)
    else if (item !== null) found.push(String(item))
  }
  return found.join('\n')
}
