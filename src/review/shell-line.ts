/** A word of a command, without its quotes. */
export interface ShellWord {
  text: string
  /** The shell puts something else in its place: a variable, the output of a command, file names. */
  isOpaque: boolean
}

/** Words of one command: its program, and what it is given. Redirections to and from files are omitted. */
export type ShellCommand = readonly ShellWord[]

/** A line of shell, with what stands in `$(…)`, `(…)` and backquotes in it. */
export interface ShellLine {
  commands: ShellCommand[]
  /** Files that its redirections write. */
  written: ShellWord[]
}

/** Commands that are being read: those of the line itself, or of what stands in parentheses or backquotes in it. */
interface List {
  /** Character that ends it. */
  closes: '' | ')' | '`'
  command: ShellWord[]
  word: ShellWord | null
  quote: '' | "'" | '"'
  /** Role of the next word: the file of a redirection, or the end of the text that follows the line, as in `<<EOF`. */
  next: 'word' | 'read' | 'written' | 'end'
  ends: { text: string; isQuoted: boolean }[]
}

interface Reader {
  line: string
  at: number
  commands: ShellCommand[]
  written: ShellWord[]
  /** Lists under way, the innermost last. */
  open: List[]
}

/**
 * Reads a line of a POSIX shell into the commands that it runs, those of `$(…)`, `(…)` and backquotes as well. Words are
 * as the shell hands them over, as far as the line says it. Keywords, such as `if` and `{`, are words, and so is the text
 * after `<<<`.
 */
export function shellLine(line: string): ShellLine {
  const reader: Reader = { line, at: 0, commands: [], written: [], open: [] }
  begin(reader, '')
  while (reader.at < line.length) {
    if (innermost(reader).quote === '') readBare(reader)
    else readQuoted(reader)
  }
  while (reader.open.length > 0) end(reader)
  const { commands, written } = reader
  return { commands, written }
}

/** Git as Windows finds it, in any case: `.\git`, `C:/Git\cmd\git.exe`, `GIT.EXE`. */
const isGitOfWindows = (word: string): boolean => /(?:^|[/\\])git(?:\.exe)?$/i.test(word) && /\\|\.exe$/i.test(word)

/** Takes the folder and the `.exe` from a program: `/usr/bin/git`, `C:\Git\cmd\git.exe`. */
export const programOf = (word: string): string => {
  if (isGitOfWindows(word)) return 'git'
  return word
    .replace(/^[a-z]:[^/]*\\/is, '')
    .replace(/^.*\//s, '')
    .replace(/\.exe$/i, '')
}

const innermost = ({ open }: Reader): List => open.at(-1) as List

const begin = ({ open }: Reader, closes: List['closes']): unknown =>
  open.push({ closes, command: [], word: null, quote: '', next: 'word', ends: [] })

function end(reader: Reader): void {
  endCommand(reader)
  reader.open.pop()
}

function wordOf(reader: Reader): ShellWord {
  const list = innermost(reader)
  list.word ??= { text: '', isOpaque: false }
  return list.word
}

/** Words of the grammar, which are no pattern of file names. */
const BRACKETS = new Set(['{', '[', '[['])

function endWord(reader: Reader): void {
  const list = innermost(reader)
  const { word, next } = list
  if (word === null) return
  if (BRACKETS.has(word.text)) word.isOpaque = false
  if (next === 'end') list.ends.push({ text: word.text, isQuoted: /["']/.test(reader.line[reader.at - 1] ?? '') })
  else if (next === 'word') list.command.push(word)
  else if (next === 'written') reader.written.push(word)
  list.word = null
  list.next = 'word'
}

function endCommand(reader: Reader): void {
  endWord(reader)
  const list = innermost(reader)
  if (list.command.length > 0) reader.commands.push(list.command)
  list.command = []
}

/** Reads what means the same inside of double quotes and outside. Returns false for anything else. */
function readExpansion(reader: Reader): boolean {
  const { line, at } = reader
  const c = line[at]
  if (c !== '$' && c !== '`') return false
  reader.at++
  if (c === '`' && innermost(reader).closes === '`') {
    end(reader)
    return true
  }
  const word = wordOf(reader)
  word.isOpaque = true
  word.text += '$'
  if (c === '`') begin(reader, '`')
  else if (line[at + 1] === '(') {
    reader.at++
    begin(reader, ')')
  }
  return true
}

function readEscape(reader: Reader): void {
  const next = reader.line[reader.at + 1] ?? ''
  reader.at += 2
  // A line that ends with a backslash goes on.
  if (next !== '\n') wordOf(reader).text += next
}

function readQuoted(reader: Reader): void {
  const list = innermost(reader)
  const c = reader.line[reader.at] as string
  if (list.quote === '"' && c === '\\' && /["\\$`\n]/.test(reader.line[reader.at + 1] ?? '')) {
    readEscape(reader)
    return
  }
  if (list.quote === '"' && readExpansion(reader)) return
  reader.at++
  if (c === list.quote) list.quote = ''
  else wordOf(reader).text += c
}

function readBare(reader: Reader): void {
  const { line, at } = reader
  const c = line[at] as string
  const next = line[at + 1]
  if (c === '\\') {
    readEscape(reader)
    return
  }
  if (c === '$' && next === "'") {
    // What its escapes stand for is not read.
    if (line.slice(at + 2, line.indexOf("'", at + 2)).includes('\\')) wordOf(reader).isOpaque = true
    reader.at++
    return
  }
  if (readExpansion(reader)) return
  if ((c === '<' || c === '>') && next === '(') {
    wordOf(reader).isOpaque = true
    reader.at += 2
    begin(reader, ')')
  } else if (c === '<' || c === '>' || (c === '&' && next === '>')) readRedirection(reader)
  else if (c === '\n') readNewline(reader)
  else if (c === '#' && innermost(reader).word === null) reader.at = endOfLine(line, at)
  else {
    reader.at++
    readCharacter(reader, c)
  }
}

function readCharacter(reader: Reader, c: string): void {
  if (c === "'" || c === '"') {
    wordOf(reader)
    innermost(reader).quote = c
  } else if (c === '(') {
    endCommand(reader)
    begin(reader, ')')
  } else if (c === ')' && innermost(reader).closes === ')') end(reader)
  else if (/[;|&)]/.test(c)) endCommand(reader)
  else if (/\s/.test(c)) endWord(reader)
  else {
    const word = wordOf(reader)
    word.text += c
    if (/[*?[{]/.test(c)) word.isOpaque = true
  }
}

function endOfLine(line: string, at: number): number {
  const newline = line.indexOf('\n', at)
  return newline === -1 ? line.length : newline
}

function readRedirection(reader: Reader): void {
  const list = innermost(reader)
  if (/^\d+$/.test(list.word?.text ?? '')) list.word = null
  endWord(reader)
  const [operator = ''] = /^(?:&>>?|<<<|<<-?|<>|>>|>\||[<>]&?)/.exec(reader.line.slice(reader.at, reader.at + 3)) ?? []
  reader.at += operator.length
  list.next = NEXT[operator] ?? (operator.includes('>') ? 'written' : 'read')
}

/** Roles of the words after operators that name no file. */
const NEXT: Readonly<Record<string, List['next']>> = { '<<': 'end', '<<-': 'end', '<<<': 'word' }

/** Programs that do not run the text that follows their line. */
const READS_TEXT = new Set(['cat', 'tee', 'git', 'gh'])

/** Ends a line, and omits the texts that follow it, up to their ends, for a program that does not run them. */
function readNewline(reader: Reader): void {
  endWord(reader)
  const list = innermost(reader)
  const program = programOf(list.command[0]?.text ?? '')
  const { ends } = list
  list.ends = []
  endCommand(reader)
  reader.at++
  if (!READS_TEXT.has(program)) return
  for (const { text, isQuoted } of ends) {
    let at = reader.at
    while (at < reader.line.length && reader.line.slice(at, endOfLine(reader.line, at)).trim() !== text)
      at = endOfLine(reader.line, at) + 1
    // The shell runs what stands in `$(…)` there.
    if (!isQuoted && /\$\(|`/.test(reader.line.slice(reader.at, at))) return
    reader.at = endOfLine(reader.line, at)
  }
}
