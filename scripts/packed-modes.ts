import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Files that npm packs, whatever `files` of the manifest says. */
const ALWAYS = ['package.json', 'README.md', 'LICENSE']
const RUNNABLE = 0o100

/**
 * Gives each file of the package the rights that it has with a umask of 022. npm packs the rights of the files that it
 * finds, so a shell with another umask would make another tarball.
 *
 * @param root folder of the package
 */
export function setPackedModes(root: string): void {
  const { files = [] } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files?: string[] }
  for (const name of [...ALWAYS, ...files]) if (existsSync(join(root, name))) setMode(join(root, name))
}

function setMode(path: string): void {
  const found = statSync(path)
  if (found.isDirectory()) for (const name of readdirSync(path)) setMode(join(path, name))
  else chmodSync(path, found.mode & RUNNABLE ? 0o755 : 0o644)
}
