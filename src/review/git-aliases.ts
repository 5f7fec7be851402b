import { type Checkout, git } from '../context/git-command.ts'
import { commandsIn } from './held-command.ts'
import { subcommandOf } from './shell-command.ts'

/** A word that sets an alias for one command: `git -c alias.p=push p`, `git --config-env=alias.p=VARIABLE p`. */
const SET_IN_LINE = /^(?:--config-env=)?alias\.[^=]+=(.*)$/is

/** A variable with the value of a setting, which may be an alias (git-config(1), GIT_CONFIG_COUNT). */
const VALUE_IN_LINE = /^GIT_CONFIG_VALUE_\d+=(.*)$/s

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
  const inLine = commands.flatMap((words) =>
    words.flatMap(({ text }, at) => {
      const set = SET_IN_LINE.exec(text)?.[1]
      if (set !== undefined) return variables.get(set) ?? set
      return [...givenBy(text), ...configuredBy(text, words[at + 1]?.text, used)]
    }),
  )
  return [line, ...new Set([...configured, ...inLine].map(asCommand))].join('\n')
}

function variableIn(word: string): [name: string, value: string] {
  const at = word.indexOf('=')
  return [word.slice(0, at), word.slice(at + 1)]
}

/** Lists what a variable of git's own sets that may be an alias. */
function givenBy(word: string): string[] {
  if (word.startsWith('GIT_CONFIG_PARAMETERS=')) return [...word.matchAll(SET_IN_PARAMETERS)].map(([, set = '']) => set)
  return VALUE_IN_LINE.exec(word)?.slice(1) ?? []
}

/** Takes the value from `git config alias.p push`, where the line uses the alias. */
function configuredBy(word: string, value: string | undefined, used: ReadonlySet<string>): string[] {
  const [, name = ''] = /^alias\.([^=]+)$/i.exec(word) ?? []
  return value !== undefined && used.has(name.toLowerCase()) ? [value] : []
}

const asCommand = (alias: string): string => (alias.startsWith('!') ? alias.slice(1) : `git ${alias}`)
