import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Settings under which a test repository commits: none of this machine's. */
const ENV = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }

/** A git repository in a temporary folder, removed after the test. */
export function createRepository(t: { after(end: () => void): void }) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'gazeway-review-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))

  function write(path: string | Buffer, content: string | Buffer): void {
    const place = Buffer.isBuffer(path) ? Buffer.concat([Buffer.from(`${root}/`), path]) : join(root, path)
    if (typeof place === 'string') mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, content)
  }

  function git(...args: string[]): string {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'protocol.file.allow=always']
    return execFileSync('git', ['-C', root, ...identity, ...args], {
      encoding: 'utf8',
      env: ENV,
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  }

  /** Commits all files that are there, and returns the commit. */
  function commit(message = 'Change', ...flags: string[]): string {
    git('add', '-A')
    git('commit', '-q', '--allow-empty', '-m', message, ...flags)
    return git('rev-parse', 'HEAD')
  }

  /** Commits these files, and returns the commit. */
  function commitFiles(files: Record<string, string | Buffer>, message?: string): string {
    for (const [path, content] of Object.entries(files)) write(path, content)
    return commit(message)
  }

  git('init', '-q', '-b', 'main')
  return { root, write, git, commit, commitFiles }
}

/** Numbered lines of text. */
export const numbered = (count: number, from = 1): string =>
  Array.from({ length: count }, (_, index) => `line ${from + index}\n`).join('')
