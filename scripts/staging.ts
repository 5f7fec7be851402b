import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Files and folders of the repository that a copy needs. */
const OWN = ['dist', 'LICENSE', 'THIRD-PARTY-LICENSES', 'CHANGELOG.md']
/** Files of packages that a running server does not read. */
const NEEDLESS =
  /[\\/](?:README\.md|SECURITY\.md|CHANGELOG\.md|binding\.gyp|\.github|test|tests|docs|benchmarks|examples|src|.*\.(?:map|d\.[cm]?ts))$/

/** Copies the built command and the packages that it needs at run time into a folder, where it then runs by itself. */
export function stage(folder: string): void {
  for (const name of OWN) cpSync(name, join(folder, name), { recursive: true })
  for (const path of packagesNeeded()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(path, join(folder, path), { recursive: true, filter: (file) => !NEEDLESS.test(file) })
  }
  const { name, version, type } = JSON.parse(readFileSync('package.json', 'utf8'))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ name, version, type })}\n`)
}

/** The folders of the packages that are no part of development, from the lock file. */
function packagesNeeded(): string[] {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { dev?: true }>
  }
  return Object.entries(packages).flatMap(([path, { dev }]) => (path === '' || dev ? [] : [path]))
}
