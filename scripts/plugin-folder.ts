import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stage } from './staging.ts'

/**
 * Writes the Claude Code plugin with all that it runs into a new folder. The folder is a marketplace too: committed to a
 * git repository, it can be installed from there without a build.
 */
export function writePlugin(folder: string): void {
  mkdirSync(folder)
  stage(folder)
  cpSync('plugin', folder, { recursive: true })
  const marketplace = JSON.parse(readFileSync('.claude-plugin/marketplace.json', 'utf8'))
  const plugins = marketplace.plugins.map((plugin: object) => ({ ...plugin, source: './' }))
  const file = join(folder, '.claude-plugin/marketplace.json')
  writeFileSync(file, `${JSON.stringify({ ...marketplace, plugins }, null, 2)}\n`)
}
