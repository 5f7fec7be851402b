import { isProgram, isPushingProgram, isShell, PUSHES_TOO, started } from './shell-command.ts'
import { programOf, type ShellCommand, type ShellWord } from './shell-line.ts'

/**
 * Tells whether a command neither changes what HEAD is, nor runs another program, nor sets what git reads. Only shapes
 * that are known to be so are plain: anything else may do it.
 */
export function isPlain(command: ShellCommand): boolean {
  const start = started(command)
  if (start === null || !start.settings.every(isPlainSetting)) return false
  const [program, ...words] = start.words
  if (program === undefined) return true
  if (program.isOpaque || words.some(({ text }) => EVALUATED.test(text))) return false
  const name = program.text
  // Such a word was read as a line.
  if (name === 'eval' || isShell(name)) return isReadLine(name, words)
  if (name === 'git') return isPlainGit(words)
  const allows = ALLOWED_WORDS[name]
  return HARMLESS.has(name) && (allows === undefined || words.every((word) => allows(word)))
}

/**
 * Tells whether a held command is written in a way that says all of what it does. Its words are the ones that it is given.
 *
 * @param at place of its program
 */
export function isPlainlyRun(command: ShellCommand, at: number): boolean {
  const start = started(command)
  if (start === null || command.length - start.words.length !== at) return false
  if (!start.settings.every(isPlainSetting) || start.words.some(({ isOpaque }) => isOpaque)) return false
  const [program, ...words] = start.words.map(({ text }) => text)
  if (!/^([\w.-]+|\/(usr|bin|opt)\/.*)$/.test(program ?? '') || isPushingProgram(program ?? '')) return false
  if (!isProgram(program ?? '', 'git')) return true
  const [subcommand = ''] = afterGitOptions(words) ?? []
  return subcommand !== '' && !PUSHES_TOO.has(subcommand)
}

/** Programs that neither change what HEAD is nor run another one. */
const HARMLESS = new Set(
  'cat cd cut date echo egrep exit export false fgrep for grep head ls mkdir printf pwd return rg set sleep tail tee test tr true unset wait wc : [ [['.split(
    ' ',
  ),
)

/** A word that a shell may evaluate as a program of its own: `test -v 'a[$(x)]'`. */
const EVALUATED = /\$\(|`/

/** Tests of the words of a program, where not all are harmless. */
const ALLOWED_WORDS: Readonly<Record<string, (word: ShellWord) => boolean>> = {
  cd: ({ text, isOpaque }) => !isOpaque && !text.startsWith('-'),
  mkdir: ({ text, isOpaque }) => !isOpaque && (text === '-p' || !text.startsWith('-')),
  export: ({ text, isOpaque }) => (/^\w+$/.test(text) && !isOpaque) || isPlainSetting(text),
  printf: ({ text }) => !text.startsWith('-v'),
  // It runs programs with `--pre` and `--hostname-bin`.
  rg: ({ text, isOpaque }) => !isOpaque && !text.startsWith('--'),
  set: ({ text }) => /^(-[eux]+|-[eux]*o|pipefail)$/.test(text),
  unset: ({ text, isOpaque }) => !isOpaque && /^\w+$/.test(text),
}

/** Variables that no git command obeys, and those whose values cannot lead it elsewhere. */
const SETTINGS = new Set(
  'CI DEBUG FORCE_COLOR GH_TOKEN GITHUB_TOKEN GIT_TERMINAL_PROMPT HUSKY LANG LC_ALL LEFTHOOK NO_COLOR NODE_ENV NPM_TOKEN SKIP TERM TZ'.split(
    ' ',
  ),
)
const PLAIN_SSH = /^ssh( -[ilp] [\w./~@-]+| -[46vqA]+)*$/

/** Tells whether a variable that is set, as `NAME=value`, leads git nowhere else. */
export function isPlainSetting(setting: string): boolean {
  const [, name = '', value = ''] = /^(\w+)\+?=(.*)$/s.exec(setting) ?? []
  if (name === 'GIT_SSH_COMMAND') return PLAIN_SSH.test(value)
  // In zsh, `path` and `cdpath` are those of the environment.
  return SETTINGS.has(name) || (/^[a-z]\w*$/.test(name) && !name.endsWith('path'))
}

/** Tells whether the words of a shell are `-c` and one line, those of `eval` a line: both were read. */
function isReadLine(name: string, words: ShellCommand): boolean {
  const [line, ...more] = name === 'eval' ? words : words.slice(1)
  const isOption = name === 'eval' || /^-[elux]*c$/.test(words[0]?.text ?? '')
  return isOption && line !== undefined && more.length === 0 && /\s/.test(line.text) && !line.isOpaque
}

/** Options of git before its subcommand, without a value, that change nothing of what it does. */
const GIT_OPTIONS = new Set(['--no-pager', '-P', '--no-replace-objects', '--no-optional-locks', '--no-advice'])
/** Settings of `git -c` that neither run a program nor say what is pushed. */
const GIT_SETTINGS =
  /^(advice|color|gc|http|pack|user)\.[\w.:/-]+=|^protocol\.version=|^push\.default=(current|simple|upstream|nothing)$|^commit\.gpgsign=/i

/** Omits options of git before its subcommand. Null for one that is not known to change nothing of what it does. */
function afterGitOptions(words: readonly string[]): readonly string[] | null {
  let at = 0
  for (; words[at]?.startsWith('-'); at++) {
    const isPaired = words[at] === '-C' || (words[at] === '-c' && GIT_SETTINGS.test(words[at + 1] ?? ''))
    if (isPaired) at++
    else if (!GIT_OPTIONS.has(words[at] as string)) return null
  }
  return words.slice(at)
}

const HARMLESS_OF_GIT = new Set(
  'add blame cat-file describe diff diff-tree for-each-ref grep log ls-files ls-remote merge-base name-rev rev-list rev-parse shortlog show status version'.split(
    ' ',
  ),
)
/** Words with which these list and change nothing. */
const LISTS: Readonly<Record<string, RegExp>> = {
  branch: /^(-[avr]+|--all|--list|--remotes|--show-current|--verbose)$/,
  remote: /^(-v|--verbose)$/,
  stash: /^list$/,
}
/** Long options of harmless commands that write no file and run no program. Abbreviated ones are not known. */
const LONG_OPTIONS = new Set(
  (
    'abbrev abbrev-commit abbrev-ref all author branch cached color contains count cc date decorate dirstat dry-run exclude-standard ' +
    'first-parent format git-dir graph grep heads ignore-missing is-ancestor left-right max-count merges name-only name-status ' +
    'no-color no-merges no-patch no-renames numstat oneline others patch patience points-at porcelain pretty quiet refs remotes ' +
    'reverse short shortstat show-current show-toplevel since sort staged stat summary symbolic-full-name tags unified until ' +
    'untracked-files update verbose verify word-diff'
  ).split(' '),
)

function isPlainGit(words: ShellCommand): boolean {
  const [subcommand = '', ...rest] = afterGitOptions(words.map(({ text }) => text)) ?? []
  if (words.some(({ isOpaque }) => isOpaque)) return false
  const lists = LISTS[subcommand]
  if (lists !== undefined) return rest.length > 0 && rest.every((word) => lists.test(word))
  return HARMLESS_OF_GIT.has(subcommand) && rest.every(isPlainOption)
}

/** In a cluster of short options, `-o` and `-O` may name a file or a program. */
function isPlainOption(word: string): boolean {
  if (word === '--' || !word.startsWith('-')) return true
  const [, name] = /^--([^=]+)/.exec(word) ?? []
  return name === undefined ? !/o/i.test(word) : LONG_OPTIONS.has(name)
}

/** Flag or command of sed that runs the text that it made as a line of shell. */
const RUNS_IN_SED = /(^|[^\w\s\\])[\dgpimIM]*e[\dgpimIM]*\s*([;}\n]|$)|(^|[;{}\n$\d/])\s*e\s/

const INTERPRETER = /^(python|node|perl|ruby|php|deno|bun|osascript)[\d.]*$/

/**
 * Tells whether a command runs text of its own line: that of a pipe or of its words in another language, or a file that
 * the line writes.
 */
export function runsLine(command: ShellCommand, written: readonly ShellWord[]): boolean {
  const [program, ...words] = started(command)?.words ?? []
  if (program === undefined) return false
  // The line may change the folder in between.
  const isWritten = ({ text }: ShellWord) => written.some((file) => programOf(file.text) === programOf(text))
  if (isWritten(program)) return true
  const name = programOf(program.text)
  if (name === 'sed') return words.some(({ text }) => !text.startsWith('-') && RUNS_IN_SED.test(text))
  if (!isShell(name) && !INTERPRETER.test(name) && name !== 'source' && name !== '.') return false
  const [file] = words.filter(({ text }) => !text.startsWith('-'))
  const isCode = words.some(({ text }) => /^-\w*[ceE]$|^--eval$/.test(text))
  return file === undefined || isCode || file.isOpaque || file.text.startsWith('/dev/') || isWritten(file)
}
