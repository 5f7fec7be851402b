import { normalized } from './normalize-text.ts'

/** Scripts written without spaces. Their characters are indexed one by one and searched in pairs. */
const UNSPACED = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}ー'
/** Characters that extend the one before: combining marks, such as Indic vowel signs, and joiners. */
const UPON_IT = '[\\p{M}\\u200c\\u200d]*'
const UNSPACED_CHARACTER = `(?!\\p{M})[${UNSPACED}]${UPON_IT}`
const SPACED_WORD = `(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{Co}]${UPON_IT})+`
const UNSPACED_CHARACTERS = new RegExp(UNSPACED_CHARACTER, 'gu')
const WORD = new RegExp(`${UNSPACED_CHARACTER}|${SPACED_WORD}`, 'gu')
const RUN = new RegExp(`(?:${UNSPACED_CHARACTER})+|${SPACED_WORD}`, 'gu')
/**
 * Marks that people omit or that only modify a letter: accents and points of Latin, Greek, Cyrillic, Hebrew and Arabic;
 * enclosing marks; variation selectors; joiners. Listed by block, because Unicode releases move marks between scripts.
 */
const LEFT_OUT = new RegExp(
  '(?=\\p{M})(?:[\\u0300-\\u06ff]|[\\u0870-\\u08ff]|[\\u1ab0-\\u1aff]|[\\u1dc0-\\u1dff]|[\\u20d0-\\u20ff]|[\\ufe00-\\ufe2f]|[\\u{e0100}-\\u{e01ef}])' +
    '|[\\u200c\\u200d]',
  'gu',
)

const BEYOND_ASCII = /[^\0-\x7f]/
const RUN_OF_ASCII_OR_ONE = /[\0-\x7f]+|[^\0-\x7f]/gu

/** Characters of a text whose words are taken, from its beginning. */
const LOOKED_AT = 20_000

/** A word of a text and its start in the text as {@link normalized} composes it (NFC), in UTF-16 units. */
export interface Word {
  text: string
  start: number
}

/** Latin letters that do not decompose, with their usual ASCII spelling. */
const PLAIN: Record<string, string> = { ł: 'l', ø: 'o', đ: 'd', ß: 'ss', æ: 'ae', œ: 'oe', ı: 'i', ς: 'σ' }
const WITH_PLAIN = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g')

/**
 * Folds `text` for search: no case, accents, points or compatibility forms (ligatures, full and half widths,
 * superscripts: NFKD).
 *
 * @example fold('Ｃafé') // 'cafe'
 */
export function fold(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase()
  const lower = normalized(normalized(text, 'NFKD').replace(LEFT_OUT, ''), 'NFC').toLowerCase()
  return lower.replace(WITH_PLAIN, (letter) => PLAIN[letter] ?? letter)
}

/**
 * Folded words of `text`, in order. Each character of an unspaced script is a word. Decomposed text, as macOS writes
 * file names, gives the same words as composed text.
 */
export function* wordsOf(text: string): Generator<Word> {
  const composed = normalized(text, 'NFC')
  const { plain, starts } = withoutForms(composed)
  for (const { 0: word, index } of plain.matchAll(WORD)) yield { text: fold(word), start: starts?.[index] ?? index }
}

/**
 * Removes compatibility forms, which may hold several words. `starts` maps each unit back to `composed`; null when
 * nothing moved.
 */
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

/** Words of `text` as written, without compatibility forms. A run of characters of an unspaced script is one word. */
export function* runsOf(text: string): Generator<string> {
  for (const [run] of withoutForms(normalized(text, 'NFC')).plain.matchAll(RUN)) yield run
}

/** Distinct words of texts, folded and shortened. Only the first 20,000 characters of each text count. */
export function distinctWords(...texts: string[]): string[] {
  const words = new Set<string>()
  for (const text of texts) for (const word of wordsOf(text.slice(0, LOOKED_AT))) words.add(shortened(word.text))
  return [...words]
}

/** First 64 letters of a word, enough to distinguish it. PostgreSQL rejects words above 2 KB. */
export const shortened = (word: string): string => [...word].slice(0, 64).join('')

/**
 * Distinct folded words of a query, at most `limit`. A run of an unspaced script becomes overlapping pairs of
 * characters, written with a space between: a phrase of the index.
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

/** Tells whether `word` is of a script written without spaces. */
export const isUnspaced = (word: string): boolean => word.search(UNSPACED_CHARACTERS) === 0

/** Characters of an unspaced script in `run`, each with its marks and joiners. */
export const charactersOf = (run: string): string[] => run.match(UNSPACED_CHARACTERS) ?? []

function pairs(run: string): string[] {
  const characters = charactersOf(run)
  if (characters.length === 1) return characters
  return characters.slice(1).map((character, i) => `${characters[i]} ${character}`)
}

/** All text inside a JSON value, property names included, in order, one line per string or number. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const found: string[] = []
  const rest: unknown[] = [value]
  while (rest.length > 0) {
    const item = rest.pop()
    // One push per item: spreading a large list would exceed the limit on call arguments.
    if (Array.isArray(item)) for (const part of item.toReversed()) rest.push(part)
    else if (typeof item === 'object' && item !== null)
      for (const [name, part] of Object.entries(item).reverse()) rest.push(part, name)
    else if (item !== null) found.push(String(item))
  }
  return found.join('\n')
}
