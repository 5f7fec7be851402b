import { type Assistant, inHome, references } from './assistant.ts'

export const geminiCli: Assistant = {
  name: 'gemini-cli',
  label: 'Gemini CLI',
  command: 'gemini',
  traces: (machine) => [inHome(machine, '.gemini')],
  userFiles: (machine) => [inHome(machine, '.gemini', 'settings.json')],
  projectFiles: ['.gemini/settings.json'],
  format: 'jsonc',
  servers: 'mcpServers',
  // It keeps variables whose names look like keys from servers, except for what is named here.
  entry: ({ command, args }, variables) => ({ command, args, env: references(variables, (name) => `\${${name}:-}`) }),
  handsOn: '`"NAME": "${NAME:-}"`',
  source: 'https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md',
  date: '2026-11-24',
}
