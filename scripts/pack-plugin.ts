import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stage } from './staging.ts'

/**
 * Writes the Claude Code plugin with all that it runs into a new folder, `gazeway-plugin` or the one that is named. The
 * folder is a marketplace too: committed to a git repository, it can be installed from there without a build.
 */
const folder = resolve(process.argv[2] ?? 'gazeway-plugin')
mkdirSync(folder)
stage(folder)
cpSync('plugin', folder, { recursive: true })
const marketplace = JSON.parse(readFileSync('.claude-plugin/marketplace.json', 'utf8'))
const plugins = marketplace.plugins.map((plugin: object) => ({ ...plugin, source: './' }))
writeFileSync(
  join(folder, '.claude-plugin/marketplace.json'),
  `${JSON.stringify({ ...marketplace, plugins }, null, 2)}\n`,
)
console.log(`wrote ${folder}`)
