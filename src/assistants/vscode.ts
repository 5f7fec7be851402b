import { type Assistant, appData, configHome, inHome, joined, type Machine, stdioEntry } from './assistant.ts'

/** The folder of the default profile. */
function userFolder(machine: Machine): string {
  if (machine.platform === 'win32') return joined(machine, appData(machine), 'Code', 'User')
  if (machine.platform === 'darwin') return inHome(machine, 'Library', 'Application Support', 'Code', 'User')
  return joined(machine, configHome(machine), 'Code', 'User')
}

export const vscode: Assistant = {
  name: 'vscode',
  label: 'VS Code',
  command: 'code',
  traces: (machine) => [userFolder(machine)],
  userFiles: (machine) => [joined(machine, userFolder(machine), 'mcp.json')],
  projectFiles: ['.vscode/mcp.json'],
  format: 'jsonc',
  servers: 'servers',
  entry: stdioEntry,
  handsOn: '`"NAME": "${env:NAME}"`',
  source: 'https://code.visualstudio.com/docs/copilot/reference/mcp-configuration',
  date: '2026-11-24',
}
