import { programOf, type ShellCommand, type ShellWord, shellCommands } from './shell-line.ts'

/** Commands that a hook holds where nobody can tell what the policy names. */
export const USUALLY_HELD = ['git push', 'gh pr merge'] as const

/** A held command in a line of shell. */
export interface HeldCommand {
  /** As the policy names it. */
  name: string
  /** Words after it, options as well. */
  args: readonly string[]
  /** Another command of the line that may change what it lands, as it is written; null for none. */
  besides: string | null
}

/**
 * Finds the first held command that a line of shell runs. Its program may have a folder, and options with or without a
 * value may stand before the words that follow. Quoted lines are read, too: `sh -c 'git -C .. push'`.
 *
 * What a line does not spell is not found: scripts, other programs. One whose program is a variable or a pattern is held
 * when the line names all words of the held command anywhere.
 *
 * @param names such as `git push`
 * @returns null where there is none
 */
export function heldCommand(line: string, names: readonly string[]): HeldCommand | null {
  const wanted = names.map((name) => ({ name, words: name.split(/\s+/).filter(Boolean) }))
  const commands = commandsIn(line)
  const runs = commands.map((command) => heldBy(command, wanted))
  const first = runs.find((run) => run !== null) ?? spelledSomehow(line, commands, wanted)
  if (!first) return null
  const others = commands.filter(
    (command, at) => namesRepository(command) || (runs[at] === null && !isHarmless(command)),
  )
  return { ...first, besides: others[0] === undefined ? null : inWords(others[0]) }
}

/** Lists the commands of a line, each with the words that its program is given. Those of quoted lines come after theirs. */
export const commandsIn = (line: string): ShellCommand[] =>
  shellCommands(line).flatMap((command) => [command, ...linesIn(command).flatMap(commandsIn)])

/** Words of a command that may be lines of shell: those with spaces, unless its program takes them for text. */
function linesIn(command: ShellCommand): string[] {
  const [program, ...words] = withoutPrefixes(command)
  const isText = TAKES_TEXT.has(programOf(program?.text ?? '')) || TEXT_OF_GIT.has(subcommandOf(command) ?? '')
  const lines = isText ? [] : words.filter(({ text }) => /\s/.test(text))
  return [...lines, ...(/\s/.test(program?.text ?? '') ? [program as ShellWord] : [])].map(({ text }) => text)
}

const TAKES_TEXT = new Set(['gh', 'echo', 'printf', 'grep', 'egrep', 'fgrep', 'rg'])
const TEXT_OF_GIT = new Set(['commit', 'tag', 'notes', 'log', 'show', 'grep', 'merge', 'stash'])

/** A held command as the policy names it, and its words. */
type Wanted = readonly { name: string; words: readonly string[] }[]
type Found = Pick<HeldCommand, 'name' | 'args'>

function heldBy(command: ShellCommand, wanted: Wanted): Found | null {
  const words = command.map(({ text }) => text)
  for (let at = 0; at < words.length; at++)
    for (const { name, words: own } of wanted) {
      const after = isProgram(words[at] as string, own[0]) ? wordsAfter(words, at + 1, own) : null
      if (after !== null) return { name, args: words.slice(after) }
    }
  return null
}

const isProgram = (word: string, name: string | undefined): boolean => name !== undefined && programOf(word) === name

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
    // From the program's own name on the line is looked at by itself.
    else if (isProgram(word, program) || !(word.startsWith('-') || words[at - 1]?.startsWith('-'))) return null
  }
  return next === wanted.length ? at : null
}

/** Programs that run the words of others. */
const RUNS_WORDS = new Set(['xargs', 'parallel'])

/** Finds a held command that the shell or another program puts together from words of the line. */
function spelledSomehow(line: string, commands: readonly ShellCommand[], wanted: Wanted): Found | null {
  const isUnclear = commands.some((command) => {
    const [program] = withoutPrefixes(command)
    return program !== undefined && (program.isOpaque || RUNS_WORDS.has(programOf(program.text)))
  })
  if (!isUnclear) return null
  const named = new Set(line.replace(/["'\\[\]]/g, '').split(/[^\w.-]+/))
  const found = wanted.find(({ words }) => words.every((word) => named.has(word)))
  return found === undefined ? null : { name: found.name, args: [] }
}

const KEYWORDS = new Set('! { } if then elif else fi while until do done time'.split(' '))
/** Programs that run the command that follows them and their options. */
const RUNNERS = new Set('builtin command env eval exec nice nohup stdbuf sudo timeout'.split(' '))

/** Omits what may stand before a program: keywords, variables that are set, and programs that run another one. */
export function withoutPrefixes(command: ShellCommand): ShellCommand {
  let isAfterRunner = false
  const start = command.findIndex(({ text }) => {
    if (RUNNERS.has(programOf(text))) {
      isAfterRunner = true
      return false
    }
    const isOptionOfRunner = isAfterRunner && /^(-|\d)/.test(text)
    return !(KEYWORDS.has(text) || isOptionOfRunner || /^\w+=/.test(text))
  })
  return start === -1 ? [] : command.slice(start)
}

const SHELLS = new Set('ash bash dash ksh sh zsh'.split(' '))

/** Programs that neither change what HEAD is nor run another one. */
const HARMLESS = new Set(
  'cat cd cut date echo egrep exit export false fgrep for grep head ls printf pwd return rg set sleep sort tail tee test tr true unset wait wc : [ [['.split(
    ' ',
  ),
)
const HARMLESS_OF_GIT = new Set(
  'add blame cat-file describe diff diff-tree for-each-ref grep log ls-files ls-remote merge-base name-rev rev-list rev-parse shortlog show status version'.split(
    ' ',
  ),
)

function isHarmless(command: ShellCommand): boolean {
  const [program, ...words] = withoutPrefixes(command)
  if (program === undefined) return true
  // Such a word was read as a line.
  if (/\s/.test(program.text) && !program.isOpaque) return true
  if (program.isOpaque) return false
  const name = programOf(program.text)
  if (SHELLS.has(name))
    return words.some(({ text }) => /^-\w*c/.test(text)) && words.every(({ text, isOpaque }) => isRead(text, isOpaque))
  if (name === 'git') return HARMLESS_OF_GIT.has(subcommandOf(command) ?? '')
  if (name === 'cd') return words.every(({ text, isOpaque }) => text !== '-' && !isOpaque)
  return HARMLESS.has(program.text)
}

/** Tells whether a word of a shell is an option, or a line that was read. */
const isRead = (text: string, isOpaque: boolean): boolean => text.startsWith('-') || (/\s/.test(text) && !isOpaque)

/** Tells whether a command says itself which repository or configuration it is about. */
const namesRepository = (command: ShellCommand): boolean => command.some(({ text }) => OF_REPOSITORY.test(text))

const OF_REPOSITORY =
  /^(--git-dir|--work-tree|GIT_(DIR|WORK_TREE|COMMON_DIR|CONFIG\w*)=|push\.default=matching|remote\.\S+\.(push|mirror)=)/i

/** Options of git before its subcommand that have a value of their own. */
const WITH_VALUE = new Set(['-C', '-c', '--namespace', '--config-env', '--exec-path', '--git-dir', '--work-tree'])

/** Finds the subcommand of git in a command. Null for another program. */
export function subcommandOf(command: ShellCommand): string | null {
  const words = withoutPrefixes(command).map(({ text }) => text)
  if (!isProgram(words[0] ?? '', 'git')) return null
  let at = 1
  while (words[at]?.startsWith('-')) at += WITH_VALUE.has(words[at] as string) ? 2 : 1
  return words[at] ?? null
}

const inWords = (command: ShellCommand): string => {
  const words = command.map(({ text }) => text).join(' ')
  return words.length > 60 ? `${words.slice(0, 60)}…` : words
}
