import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { installedCopy } from '../../src/assistants/installed.ts'
import { heldCommand, USUALLY_HELD } from '../../src/review/held-command.ts'

/**
 * Starts Gazeway for the Claude Code plugin: the build in the plugin, which `npm run pack:plugin` puts there, the one
 * beside it, as in a clone, or else the installed command. Claude Code starts it in the opened project, where nothing is
 * looked for. Bundled into `plugin/gazeway.mjs`.
 */
const builds = ['dist/cli.js', '../dist/cli.js'].map((path) => fileURLToPath(new URL(path, import.meta.url)))
const command = builds.find((path) => existsSync(path)) ?? installedCopy(process.env, process.platform)
if (command !== null) {
  process.argv[1] = command
  await import(pathToFileURL(command).href)
} else if (process.argv[3] !== 'pre-tool-use' || heldCommand(await askedCommand(), USUALLY_HELD) !== null) {
  // Without a program nobody can tell what the policy holds: what is usually held is, and all else runs.
  process.stderr.write(
    'gazeway: not installed. From a clone of Gazeway run `npm ci && npm run build && npm install --global .`\n',
  )
  process.exitCode = 1
}

/** Reads the command that Claude Code asks about. Other input than an event throws, which holds everything. */
async function askedCommand(): Promise<string> {
  const { tool_input: input } = JSON.parse(await text(process.stdin)) as { tool_input?: { command?: unknown } | null }
  return typeof input?.command === 'string' ? input.command : ''
}
