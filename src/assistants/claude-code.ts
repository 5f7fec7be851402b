import { type Assistant, inHome, joined, named, references } from './assistant.ts'

export const claudeCode: Assistant = {
  name: 'claude-code',
  label: 'Claude Code',
  command: 'claude',
  traces: (machine) => [
    inHome(machine, '.claude.json'),
    named(machine, 'CLAUDE_CONFIG_DIR') ?? inHome(machine, '.claude'),
  ],
  userFiles: (machine) => [joined(machine, named(machine, 'CLAUDE_CONFIG_DIR') ?? machine.home, '.claude.json')],
  projectFiles: ['.mcp.json'],
  format: 'json',
  servers: 'mcpServers',
  // Without a default, an unset variable arrives as the text of its reference.
  entry: ({ command, args }, variables) => ({
    type: 'stdio',
    command,
    args,
    env: references(variables, (name) => `\${${name}:-}`),
  }),
  handsOn: '`"NAME": "${NAME:-}"`',
  source: 'https://code.claude.com/docs/en/mcp',
  date: '2026-11-24',
}
