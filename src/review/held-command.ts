import { isPlain, isPlainlyRun, isPlainSetting, runsLine } from './plain-command.ts'
import {
  GIT_WITH_VALUE,
  inWords,
  isProgram,
  isPushingProgram,
  PUSHES_TOO,
  started,
  subcommandOf,
  withoutPrefixes,
} from './shell-command.ts'
import { programOf, type ShellCommand, type ShellLine, type ShellWord, shellLine } from './shell-line.ts'

/** Commands that a hook holds where nobody can tell what the policy names. */
export const USUALLY_HELD = ['git push', 'gh pr merge'] as const

/** A held command in a line of shell. */
export interface HeldCommand {
  /** As the policy names it. */
  name: string
  /** Words after it, options as well. */
  args: readonly string[]
  /** Part of the line that is not plain, and may change what the command lands, as it is written; null for none. */
  besides: string | null
  /** That part is the held command itself. */
  isItself: boolean
}

/**
 * Finds the first held command that a line of shell runs. Its program may have a folder, and options with or without a
 * value may stand before the words that follow. Quoted lines are read, too: `sh -c 'git -C .. push'`.
 *
 * What a line does not spell is not found: scripts, other programs. Where a program is a variable or a pattern, or runs text
 * that another part of the line makes, it is held once the line names all words of the held command anywhere.
 *
 * @param names such as `git push`
 * @returns null where there is none
 */
export function heldCommand(line: string, names: readonly string[]): HeldCommand | null {
  const wanted = names.map((name) => ({ name, words: name.split(/\s+/).filter(Boolean) }))
  const { commands, written } = readLine(line)
  const runs = commands.map((command) => heldBy(command, wanted))
  const found = runs.find((run) => run !== null) ?? spelledSomehow(line, { commands, written }, wanted)
  if (!found) return null
  const first = { name: found.name, args: found.args }
  const isFine = (command: ShellCommand, at: number) =>
    runs[at] ? isPlainlyRun(command, runs[at].program) : isPlain(command)
  const at = commands.findIndex((command, index) => !isFine(command, index))
  if (at !== -1) return { ...first, besides: inWords(commands[at] as ShellCommand), isItself: runs[at] !== null }
  return { ...first, besides: secondFolder(commands) ?? changedFile(commands, written), isItself: false }
}

/** Lists the commands of a line, each with the words that its program is given. Those of quoted lines come after theirs. */
export const commandsIn = (line: string): ShellCommand[] => readLine(line).commands

function readLine(line: string): ShellLine {
  const { commands, written } = shellLine(line)
  const parts = commands.map((command) => ({ command, inner: linesIn(command).map(readLine) }))
  return {
    commands: parts.flatMap(({ command, inner }) => [command, ...inner.flatMap((one) => one.commands)]),
    written: [
      ...written,
      ...commands.flatMap(teed),
      ...parts.flatMap(({ inner }) => inner.flatMap((one) => one.written)),
    ],
  }
}

/** Files that a command writes as its words name them. */
function teed(command: ShellCommand): ShellWord[] {
  const [program, ...words] = withoutPrefixes(command)
  return program?.text === 'tee' ? words : []
}

/** Words of a command that may be lines of shell: those with spaces, unless its program takes them for text. */
function linesIn(command: ShellCommand): string[] {
  const [program, ...words] = withoutPrefixes(command)
  const lines = isText(command) ? [] : words.filter(({ text }) => /\s/.test(text))
  const own = /\s/.test(program?.text ?? '') ? [program as ShellWord] : []
  return [...[...lines, ...own].map(({ text }) => text), ...linesSetBy(command, program?.text === 'alias')]
}

/** Variables with a line of shell that git and its like run. */
const RUN_AS_LINE = /^(GIT_\w+|EDITOR|MANPAGER|PAGER|VISUAL)=/

/** Lists the lines of shell that a command sets: `GIT_PAGER='…'`, `git -c core.pager='…'`, `alias p='…'`. */
function linesSetBy(command: ShellCommand, isAlias: boolean): string[] {
  return command.flatMap(({ text }, at) => {
    const isSet = isAlias || command[at - 1]?.text === '-c' || (RUN_AS_LINE.test(text) && !isPlainSetting(text))
    return (isSet && /^[\w.-]+=(.*\s.*)$/s.exec(text)?.slice(1)) || []
  })
}

const TAKES_TEXT = new Set('gh echo printf cat head tail ls wc tee cut tr grep egrep fgrep rg'.split(' '))
const TEXT_OF_GIT = new Set(['commit', 'tag', 'notes', 'log', 'show', 'grep', 'merge', 'stash'])

/** Programs that look words up, and run another program only where an option says so: `man -P`. */
const LOOKS_UP = new Set(['apropos', 'info', 'man', 'tldr', 'type', 'whatis', 'whereis', 'which'])

/** A word, or options that say where and how to look it up: `-a`, `-k`, `-s 1`. */
const LOOKS_UP_WITH = /^([^-]|-[1-9afkKSsw]+$)/

function isText(command: ShellCommand): boolean {
  const [program, ...words] = started(command)?.words ?? []
  if (LOOKS_UP.has(programOf(program?.text ?? ''))) return words.every(({ text }) => LOOKS_UP_WITH.test(text))
  return (
    TAKES_TEXT.has(programOf(program?.text ?? '')) ||
    (program !== undefined && TEXT_OF_GIT.has(subcommandOf(command) ?? ''))
  )
}

/** A held command as the policy names it, and its words. */
type Wanted = readonly { name: string; words: readonly string[] }[]
type Found = Pick<HeldCommand, 'name' | 'args'> & {
  /** Place of its program among the words of its command. */
  program: number
}

function heldBy(command: ShellCommand, wanted: Wanted): Found | null {
  const words = command.map(({ text }) => text)
  const start = command.length - withoutPrefixes(command).length
  const end = isText(command) ? Math.min(start + 1, words.length) : words.length
  for (let at = 0; at < end; at++)
    for (const { name, words: own } of wanted) {
      const after = heldFrom(words, at, own)
      if (after !== null) return { name, args: words.slice(after), program: at }
    }
  return null
}

/** Finds the end of a held command that begins at a word. `git-push` is a program of its own. */
function heldFrom(words: readonly string[], at: number, own: readonly string[]): number | null {
  const word = words[at] as string
  if (own[0] === 'git' && isProgram(word, `git-${own[1]}`)) return wordsAfter(words, at + 1, own.slice(1))
  if (own[0] === 'git' && isPushingProgram(word)) return wordsAfter(words, at + 1, own)
  return isProgram(word, own[0]) ? wordsAfter(words, at + 1, own) : null
}

/**
 * Finds the end of words that follow their program in their order, with nothing between them but options and their values.
 * Null where they do not follow.
 */
function wordsAfter(words: readonly string[], from: number, [program, ...wanted]: readonly string[]): number | null {
  let next = 0
  let at = from
  for (; at < words.length && next < wanted.length; at++) {
    const word = words[at] as string
    if (word === wanted[next]) next++
    else if (program === 'git' && PUSHES_TOO.has(word)) continue
    // From the program's own name on the line is looked at by itself.
    else if (isProgram(word, program) || !(word.startsWith('-') || words[at - 1]?.startsWith('-'))) return null
  }
  return next === wanted.length ? at : null
}

/** Finds a held command that the shell or another program puts together from words of the line. */
function spelledSomehow(line: string, { commands, written }: ShellLine, wanted: Wanted): Found | null {
  // An escape such as that of `printf 'git push\n'` ends a word, or is dropped.
  const named = new Set(
    [line, line.replace(/\\([nrtv]|x20|0?40)/g, ' ')].flatMap((text) =>
      text.replace(/["'\\[\]]/g, '').split(/[^\w.-]+/),
    ),
  )
  const isUnclear = commands.some((command) => isPutTogether(command) || runsLine(command, written))
  const found = wanted.find(
    ({ words }) =>
      (isUnclear && words.every((word) => named.has(word))) ||
      commands.some((command) => isHidden(command, words) || isUnfinished(command, words, named)),
  )
  return found === undefined ? null : { name: found.name, args: [], program: -1 }
}

/** Programs that run the words of others. */
const RUNS_WORDS = new Set(['xargs', 'parallel'])

function isPutTogether(command: ShellCommand): boolean {
  const [program] = withoutPrefixes(command)
  return program !== undefined && (program.isOpaque || RUNS_WORDS.has(programOf(program.text)))
}

/** Tells whether the words of a held command follow a program whose name the line does not say: `$'\x67it' push`. */
function isHidden(command: ShellCommand, [, ...own]: readonly string[]): boolean {
  const [program, ...words] = withoutPrefixes(command)
  const isUnnamed = program?.isOpaque && /[$*?[{\\]/.test(programOf(program.text))
  return own.length > 0 && isUnnamed === true && own.every((word, at) => words[at]?.text === word)
}

/** Options of git and gh before a subcommand that have a value of their own. */
const WITH_VALUE = new Set([...GIT_WITH_VALUE, '-R', '--repo'])

/**
 * Tells whether the program of a held command is given a word that the shell puts together where the held command's own word
 * would stand, and the line names all of these words, or this one is a pattern: `a=push; git $a`, `git pus?`.
 */
function isUnfinished(
  command: ShellCommand,
  [program, ...own]: readonly string[],
  named: ReadonlySet<string>,
): boolean {
  const [first, ...words] = withoutPrefixes(command)
  if (!isProgram(first?.text ?? '', program)) return false
  const operands = words.filter(({ text }, at) => !text.startsWith('-') && !WITH_VALUE.has(words[at - 1]?.text ?? ''))
  const at = operands.findIndex(({ text }, index) => text !== own[index])
  const unclear = operands[at]
  if (at >= own.length || !unclear?.isOpaque) return false
  return /[*?[{\\]/.test(unclear.text) || [program as string, ...own].every((word) => named.has(word))
}

/** Finds the second change of folder in a line: where it leads depends on whether the first one succeeded. */
function secondFolder(commands: readonly ShellCommand[]): string | null {
  const second = commands.filter((command) => withoutPrefixes(command)[0]?.text === 'cd')[1]
  return second === undefined ? null : inWords(second)
}

/** Finds a file that a line writes and that may be the repository's own, such as `.git/HEAD`. */
function changedFile(commands: readonly ShellCommand[], written: readonly ShellWord[]): string | null {
  const folders = commands.flatMap((command) => {
    const [program, ...words] = withoutPrefixes(command)
    return program?.text === 'cd' ? words : []
  })
  const own = [...written, ...folders].find(
    ({ text, isOpaque }) => isOpaque || /(^|\/)\.git(\/|$)|(^|\/)(HEAD|packed-refs|refs\/.*)$/i.test(text),
  )
  return own === undefined ? null : `> ${own.text}`
}
