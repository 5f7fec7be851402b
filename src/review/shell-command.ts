import { programOf, type ShellCommand } from './shell-line.ts'

const KEYWORDS: ReadonlySet<string> = new Set('! { } if then elif else fi while until do done time'.split(' '))
/** Programs that run the command that follows them and their options. */
const RUNNERS = new Set('builtin command env eval exec nice nohup stdbuf sudo timeout'.split(' '))
const SHELLS = new Set('ash bash dash ksh sh zsh'.split(' '))

/** Options of git before its subcommand that have a value of their own. */
export const GIT_WITH_VALUE = new Set([
  '-C',
  '-c',
  '--namespace',
  '--config-env',
  '--exec-path',
  '--git-dir',
  '--work-tree',
])

export const isProgram = (word: string, name: string | undefined): boolean =>
  name !== undefined && programOf(word) === name

/** Programs of git that push on their own: `git subtree push`, `git-lfs push`. */
export const PUSHES_TOO: ReadonlySet<string> = new Set(['lfs', 'subtree'])

export const isPushingProgram = (word: string): boolean =>
  programOf(word).startsWith('git-') && PUSHES_TOO.has(programOf(word).slice('git-'.length))

export const isShell = (program: string): boolean => SHELLS.has(programOf(program))

/** Omits what may stand before a program: keywords, variables that are set, and programs that run another one. */
export function withoutPrefixes(command: ShellCommand): ShellCommand {
  let isAfterRunner = false
  const start = command.findIndex(({ text }) => {
    if (RUNNERS.has(programOf(text))) {
      isAfterRunner = true
      return false
    }
    const isOptionOfRunner = isAfterRunner && /^(-|\d)/.test(text)
    return !(KEYWORDS.has(text) || isOptionOfRunner || /^\w+\+?=/.test(text))
  })
  return start === -1 ? [] : command.slice(start)
}

/** A command whose program is certain. */
export interface StartedCommand {
  /** Variables that are set for it, as `NAME=value`. */
  settings: string[]
  /** Its program, and what it is given. */
  words: ShellCommand
}

/** Programs that run the command that follows them, with options that change only how long or how fast. */
const PACERS = new Set(['nice', 'stdbuf', 'timeout'])
const PLAIN_RUNNERS = new Set([...PACERS, 'builtin', 'command', 'env', 'exec', 'nohup'])

/** Finds the program of a command behind what stands before it. Null where options of `env` and the like leave it uncertain. */
export function started(command: ShellCommand): StartedCommand | null {
  const settings: string[] = []
  let runner = ''
  for (const [at, { text, isOpaque }] of command.entries()) {
    if (/^\w+\+?=/.test(text)) settings.push(text)
    else if (PLAIN_RUNNERS.has(text)) runner = text
    else if (PACERS.has(runner) && !isOpaque && /^(-\w*|\d[\d.]*[smhd]?)$/.test(text)) continue
    else if (runner !== '' && (isOpaque || text.startsWith('-'))) return null
    else if (runner !== '' || !KEYWORDS.has(text)) return { settings, words: command.slice(at) }
  }
  return { settings, words: [] }
}

/** Finds the subcommand of git in a command. Null for another program. */
export function subcommandOf(command: ShellCommand): string | null {
  const words = withoutPrefixes(command).map(({ text }) => text)
  if (!isProgram(words[0] ?? '', 'git')) return null
  let at = 1
  while (words[at]?.startsWith('-')) at += GIT_WITH_VALUE.has(words[at] as string) ? 2 : 1
  return words[at] ?? null
}

/** Writes a command for a message. */
export function inWords(command: ShellCommand): string {
  const words = command.map(({ text }) => text).join(' ')
  return words.length > 60 ? `${words.slice(0, 60)}…` : words
}
