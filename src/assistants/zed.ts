import { type Assistant, appData, configHome, inHome, joined, type Machine } from './assistant.ts'

function folder(machine: Machine): string {
  if (machine.platform === 'win32') return joined(machine, appData(machine), 'Zed')
  // Also on macOS; XDG_CONFIG_HOME only applies on Linux.
  return machine.platform === 'darwin' ? inHome(machine, '.config', 'zed') : joined(machine, configHome(machine), 'zed')
}

export const zed: Assistant = {
  name: 'zed',
  label: 'Zed',
  command: 'zed',
  traces: (machine) => [folder(machine)],
  userFiles: (machine) => [joined(machine, folder(machine), 'settings.json')],
  projectFiles: ['.zed/settings.json'],
  format: 'jsonc',
  servers: 'context_servers',
  // Zed expands no references and passes on its own environment, which it takes from the login shell.
  entry: ({ command, args }) => ({ source: 'custom', command, args, env: {} }),
  handsOn: 'the whole environment of the login shell',
  source: 'https://zed.dev/docs/ai/mcp',
  date: '2026-11-24',
}
