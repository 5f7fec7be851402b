import { type Checkout, git } from '../repository/git-command.ts'
import { commandsIn } from './held-command.ts'
import { subcommandOf } from './shell-command.ts'
import type { ShellCommand } from './shell-line.ts'

/** A word that sets an alias for one command: `git -c alias.p=push p`, `git --config-env=alias.p=VARIABLE p`. */
const SET_IN_LINE = /^(?:--config-env=)?alias\.[^=]+=(.*)$/is

/** Variables with the name and the value of a setting, by its number (git-config(1), GIT_CONFIG_COUNT). */
const KEY_IN_LINE = /^GIT_CONFIG_KEY_(\d+)\+?=(.*)$/s
const VALUE_IN_LINE = /^GIT_CONFIG_VALUE_(\d+)=(.*)$/s

/** Aliases among the settings that git hands to its own programs: `'alias.p=push'`, `'alias.p'='push'`. */
const SET_IN_PARAMETERS = /'alias\.[^'=]+(?:=|'=')([^']*)'/gi

/** Adds to a line of shell what its aliases of git stand for, each as a line of its own. */
export async function writtenOut(checkout: Checkout, line: string): Promise<string> {
  const commands = commandsIn(line)
  const used = new Set(commands.flatMap((command) => subcommandOf(command)?.toLowerCase() ?? []))
  if (used.size === 0) return line
  const { output } = await git(checkout, ['config', '--null', '--get-regexp', '^alias\\.'])
  const configured = output.split('\0').flatMap((entry) => {
    const [name = '', ...value] = entry.split('\n')
    return used.has(name.slice('alias.'.length).toLowerCase()) ? [value.join('\n')] : []
  })
  const variables = new Map(commands.flat().flatMap(({ text }) => (/^\w+=/.test(text) ? [variableIn(text)] : [])))
  const others = numbersOfOthers(commands.flat())
  const inLine = commands.flatMap((words) =>
    words.flatMap(({ text }, at) => {
      const set = SET_IN_LINE.exec(text)?.[1]
      if (set !== undefined) return variables.get(set) ?? set
      return [...givenBy(text, others), ...configuredBy(text, words[at + 1]?.text, used)]
    }),
  )
  return [line, ...new Set([...configured, ...inLine].map(asCommand))].join('\n')
}

function variableIn(word: string): [name: string, value: string] {
  const at = word.indexOf('=')
  return [word.slice(0, at), word.slice(at + 1)]
}

/** Finds the numbers of settings whose names are all spelled out, and are no aliases'. */
function numbersOfOthers(words: ShellCommand): Set<string> {
  const keys = words.flatMap(({ text, isOpaque }) => {
    const [, number, name = ''] = KEY_IN_LINE.exec(text) ?? []
    if (number === undefined) return []
    return [{ number, isOther: !isOpaque && /^GIT_CONFIG_KEY_\d+=/.test(text) && !/^alias\./i.test(name) }]
  })
  const unclear = new Set(keys.flatMap(({ number, isOther }) => (isOther ? [] : [number])))
  return new Set(keys.flatMap(({ number }) => (unclear.has(number) ? [] : [number])))
}

/** Lists what a variable of git's own sets that may be an alias. */
function givenBy(word: string, others: ReadonlySet<string>): string[] {
  if (word.startsWith('GIT_CONFIG_PARAMETERS=')) return [...word.matchAll(SET_IN_PARAMETERS)].map(([, set = '']) => set)
  const [, number, value] = VALUE_IN_LINE.exec(word) ?? []
  return number === undefined || value === undefined || others.has(number) ? [] : [value]
}

/** Takes the value from `git config alias.p push`, where the line uses the alias. */
function configuredBy(word: string, value: string | undefined, used: ReadonlySet<string>): string[] {
  const [, name = ''] = /^alias\.([^=]+)$/i.exec(word) ?? []
  return value !== undefined && used.has(name.toLowerCase()) ? [value] : []
}

const asCommand = (alias: string): string => (alias.startsWith('!') ? alias.slice(1) : `git ${alias}`)
