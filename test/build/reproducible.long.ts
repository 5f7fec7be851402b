import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setPackedModes } from '../../scripts/packed-modes.ts'
import { scriptArgs } from '../doubles/script.ts'

/** Files and folders of the tree that a build reads, and a package holds. */
const SOURCES = [
  ...['adapters', 'plugin', 'scripts', 'src', 'tools', 'docs', 'package.json', 'package-lock.json', 'tsconfig.json'],
  ...['README.md', 'LICENSE', 'CHANGELOG.md', 'mcp.example.json', 'server.json'],
]
/** Another time zone and language than those of `npm run build` here. */
const ELSEWHERE = { TZ: 'Pacific/Auckland', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' }

describe('two builds, in two folders at two times, of one tree', () => {
  mkdirSync('.tests', { recursive: true })
  // Below the tree, where tools are found that no bundle holds, and on the disk of the packages, which are linked.
  const folder = mkdtempSync(resolve('.tests/an other pläce-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  before(() => {
    assert.ok(existsSync('dist/console'), 'run `npm run build` before')
    for (const source of SOURCES) cpSync(source, join(folder, source), { recursive: true })
    for (const path of bundledPackages()) linkFiles(path, join(folder, path))
    runWithoutGit(folder, '--import', 'tsx', 'scripts/build.ts')
  })

  it('have the same files with the same bytes', () => {
    assert.deepEqual(digests(join(folder, 'dist')), digests('dist'))
    assert.equal(
      readFileSync(join(folder, 'THIRD-PARTY-LICENSES'), 'utf8'),
      readFileSync('THIRD-PARTY-LICENSES', 'utf8'),
    )
  })

  it('give npm the same tarball, whatever the umask', () => {
    // With its scripts it would build here, under the tests that run.
    const packed = (root: string) => JSON.parse(run(root, 'npm', 'pack', '--json', '--ignore-scripts', '--dry-run'))[0]
    for (const file of filesBelow(join(folder, 'dist'))) chmodSync(file, statSync(file).mode & 0o700)
    for (const name of ['package.json', 'README.md', 'LICENSE', 'server.json']) chmodSync(join(folder, name), 0o600)
    const made = packed(folder).integrity
    for (const root of ['.', folder]) setPackedModes(root)
    const [here, there] = [packed('.'), packed(folder)]
    assert.notEqual(made, here.integrity, 'npm packs the rights of the files')
    assert.equal(there.integrity, here.integrity)
    assert.ok(here.entryCount > 50, `${here.entryCount} files`)
  })

  it('give MCP hosts the same bundle', () => {
    const [here, there] = [join(folder, 'here.mcpb'), join(folder, 'there.mcpb')]
    execFileSync(process.execPath, [...scriptArgs('scripts/make-mcpb.ts'), here], { stdio: 'ignore' })
    run(folder, process.execPath, ...scriptArgs('scripts/make-mcpb.ts'), there)
    assert.equal(digestOf(there), digestOf(here))
  })
})

/** Runs Node as on another machine, whose path leads to no program, git among them. */
const runWithoutGit = (cwd: string, ...args: string[]) =>
  execFileSync(process.execPath, args, {
    cwd,
    env: { ...process.env, ...ELSEWHERE, PATH: '' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })

/** Runs a program as on another machine. */
function run(cwd: string, program: string, ...args: string[]): string {
  const env = { ...process.env, ...ELSEWHERE }
  return execFileSync(program, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

/** Folders of the packages that have code in the bundles, and of those that the built command needs beside it. */
function bundledPackages(): string[] {
  const titles = readFileSync('THIRD-PARTY-LICENSES', 'utf8').matchAll(/^(\S+) \d\S* \(/gm)
  const named = new Set([...titles].map(([, name]) => name))
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { dev?: true }>
  }
  return Object.entries(packages).flatMap(([path, { dev }]) => {
    const name = path.split('node_modules/').at(-1) ?? ''
    return path !== '' && existsSync(path) && (!dev || named.has(name)) ? [path] : []
  })
}

function linkFiles(from: string, to: string): void {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (!entry.isFile() || /\.(map|d\.[cm]?ts)$/.test(file)) continue
    const linked = join(to, file.slice(from.length))
    mkdirSync(dirname(linked), { recursive: true })
    if (!existsSync(linked)) linkSync(file, linked)
  }
}

const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

/** Digest of each file of a folder, by its path. */
function digests(root: string): Record<string, string> {
  return Object.fromEntries(filesBelow(root).map((path) => [path.slice(root.length), digestOf(path)]))
}

/** Paths of all files of a folder, sorted. */
function filesBelow(root: string): string[] {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map((entry) => join(entry.parentPath, entry.name)).sort()
}
