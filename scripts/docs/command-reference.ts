import type { Command } from 'commander'
import { program } from '../../adapters/command/program.ts'
import { code, table } from './table.ts'

/** Every command with its arguments and options, as `--help` has them. */
export function commandReference(): string {
  return commandsOf(program, []).join('\n\n')
}

function commandsOf(command: Command, path: readonly string[]): string[] {
  const help = command.createHelp()
  const name = ['gazeway', ...path].join(' ')
  const subcommands = help.visibleCommands(command).filter((one) => one.name() !== 'help')
  const rows = [
    ...help.visibleArguments(command).map((one) => [code(help.argumentTerm(one)), help.argumentDescription(one)]),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .map((one) => [code(help.optionTerm(one)), help.optionDescription(one)]),
  ]
  const about = path.length === 0 ? [] : [`## ${code(name)}`, `${sentence(help.commandDescription(command))}`]
  return [
    ...about,
    ...(rows.length === 0 ? [] : [table(['argument or option', 'what it is for'], rows)]),
    ...subcommands.flatMap((one) => commandsOf(one, [...path, one.name()])),
  ]
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replaceAll('<', '&lt;')}.`
}
