import { type Assistant, joined, type Machine, named, references } from './assistant.ts'

/** It takes another folder for the home folder where it is told to. */
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
  // It keeps variables whose names look like keys from servers, except for what is named here.
  entry: ({ command, args }, variables) => ({ command, args, env: references(variables, (name) => `\${${name}:-}`) }),
  handsOn: '`"NAME": "${NAME:-}"`',
  source: 'https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md',
  date: '2026-11-24',
}
