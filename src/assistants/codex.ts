import { type Assistant, inHome, joined, type Machine, named } from './assistant.ts'

const codexHome = (machine: Machine): string => named(machine, 'CODEX_HOME') ?? inHome(machine, '.codex')

export const codex: Assistant = {
  name: 'codex',
  label: 'Codex',
  command: 'codex',
  traces: (machine) => [codexHome(machine)],
  userFiles: (machine) => [joined(machine, codexHome(machine), 'config.toml')],
  // Codex reads it once a person has trusted the project.
  projectFiles: ['.codex/config.toml'],
  format: 'toml',
  servers: 'mcp_servers',
  // Codex withholds its environment from servers, except for the variables listed here.
  entry: ({ command, args }, variables) => ({ command, args, env_vars: variables }),
  handsOn: '`env_vars = ["NAME"]`',
  source: 'https://developers.openai.com/codex/mcp',
  date: '2026-11-24',
}
