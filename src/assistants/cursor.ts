import { type Assistant, inHome, stdioEntry } from './assistant.ts'

export const cursor: Assistant = {
  name: 'cursor',
  label: 'Cursor',
  command: 'cursor',
  traces: (machine) => [inHome(machine, '.cursor')],
  userFiles: (machine) => [inHome(machine, '.cursor', 'mcp.json')],
  projectFiles: ['.cursor/mcp.json'],
  format: 'jsonc',
  servers: 'mcpServers',
  entry: stdioEntry,
  handsOn: '`"NAME": "${env:NAME}"`',
  source: 'https://cursor.com/docs/mcp',
  date: '2026-11-24',
}
