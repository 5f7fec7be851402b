import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { installedCopy } from '../../src/assistants/installed.ts'

/**
 * Starts Gazeway for the Claude Code plugin: the build beside the plugin, as in a clone, or else the installed command.
 * Claude Code starts it in the opened project, where nothing is looked for. Bundled into `plugin/gazeway.mjs`.
 */
const beside = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
const command = existsSync(beside) ? beside : installedCopy(process.env, process.platform)
if (command === null) {
  process.stderr.write(
    'gazeway: not installed. From a clone of Gazeway run `npm ci && npm run build && npm install --global .`\n',
  )
  process.exitCode = 1
} else {
  process.argv[1] = command
  await import(pathToFileURL(command).href)
}
