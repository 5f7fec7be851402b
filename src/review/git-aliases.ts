import { type Checkout, git } from '../context/git-command.ts'
import { commandsIn } from './held-command.ts'
import { subcommandOf } from './shell-command.ts'

/** A line that sets an alias for one command: `git -c alias.p=push p`. */
const SET_IN_LINE = /^alias\.[^=]+=(.*)$/is

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
  const inLine = commands.flatMap((words) =>
    words.flatMap(({ text }, at) => SET_IN_LINE.exec(text)?.[1] ?? configuredBy(text, words[at + 1]?.text, used)),
  )
  return [line, ...[...configured, ...inLine].map(asCommand)].join('\n')
}

/** Takes the value from `git config alias.p push`, where the line uses the alias. */
function configuredBy(word: string, value: string | undefined, used: ReadonlySet<string>): string[] {
  const [, name = ''] = /^alias\.([^=]+)$/i.exec(word) ?? []
  return value !== undefined && used.has(name.toLowerCase()) ? [value] : []
}

const asCommand = (alias: string): string => (alias.startsWith('!') ? alias.slice(1) : `git ${alias}`)
