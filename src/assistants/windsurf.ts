import { type Assistant, inHome, references } from './assistant.ts'

export const windsurf: Assistant = {
  name: 'windsurf',
  label: 'Windsurf',
  command: 'windsurf',
  traces: (machine) => [inHome(machine, '.codeium', 'windsurf')],
  userFiles: (machine) => [inHome(machine, '.codeium', 'windsurf', 'mcp_config.json')],
  projectFiles: null,
  format: 'jsonc',
  servers: 'mcpServers',
  entry: ({ command, args }, variables) => ({
    command,
    args,
    env: references(variables, (name) => `\${env:${name}}`),
  }),
  handsOn: '`"NAME": "${env:NAME}"`',
  source: 'https://docs.windsurf.com/windsurf/cascade/mcp',
  date: '2026-11-24',
}
