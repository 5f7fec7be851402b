import { type Assistant, configHome, joined, type Machine, references } from './assistant.ts'

const folder = (machine: Machine): string => joined(machine, configHome(machine), 'opencode')

export const opencode: Assistant = {
  name: 'opencode',
  label: 'opencode',
  command: 'opencode',
  traces: (machine) => [folder(machine)],
  userFiles: (machine) => [
    joined(machine, folder(machine), 'opencode.json'),
    joined(machine, folder(machine), 'opencode.jsonc'),
  ],
  projectFiles: ['opencode.json', 'opencode.jsonc'],
  format: 'jsonc',
  servers: 'mcp',
  entry: ({ command, args }, variables) => ({
    type: 'local',
    command: [command, ...args],
    environment: references(variables, (name) => `{env:${name}}`),
    enabled: true,
  }),
  handsOn: '`"NAME": "{env:NAME}"`',
  source: 'https://opencode.ai/docs/mcp-servers/',
  date: '2026-11-24',
}
