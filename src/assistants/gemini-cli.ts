import { type Assistant, joined, type Machine, named, references } from './assistant.ts'

/** Folder of its configuration. `GEMINI_CLI_HOME` replaces the home folder. */
const folder = (machine: Machine): string =>
  joined(machine, named(machine, 'GEMINI_CLI_HOME') ?? machine.home, '.gemini')

export const geminiCli: Assistant = {
  name: 'gemini-cli',
  label: 'Gemini CLI',
  command: 'gemini',
  traces: (machine) => [folder(machine)],
  userFiles: (machine) => [joined(machine, folder(machine), 'settings.json')],
  projectFiles: ['.gemini/settings.json'],
  format: 'jsonc',
  servers: 'mcpServers',
  // Gemini CLI withholds variables whose names look like keys, except for those listed here.
  entry: ({ command, args }, variables) => ({ command, args, env: references(variables, (name) => `\${${name}:-}`) }),
  handsOn: '`"NAME": "${NAME:-}"`',
  source: 'https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md',
  date: '2026-11-24',
}
