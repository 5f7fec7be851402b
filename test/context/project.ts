import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { createAllowRoot } from '../../src/context/allowed-root.ts'
import { type ContextDeps, createContext } from '../../src/context/context.ts'
import { createTokenCounter } from '../../src/text/token-counter.ts'

/** The tokenizer, loaded once for all tests of a file. */
export const countTokens = createTokenCounter()

/** The time that tests run at. */
export const NOW = new Date('2026-11-21T07:17:52.000Z')

/** A folder of files in the temporary directory, removed after the test. */
export function createProject(t: TestContext, files: Record<string, string | Buffer> = {}, name = 'project') {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'gazeway-context-')))
  t.after(() => rmSync(outside, { recursive: true, force: true }))
  const root = join(outside, name)
  mkdirSync(root)

  function write(path: string, content: string | Buffer): void {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }

  function git(...args: string[]): string {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'commit.gpgSign=false']
    return execFileSync('git', ['-C', root, ...identity, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  /** Makes a repository of all files that are there. */
  function commitAll(message = 'All'): void {
    git('init', '-q')
    git('add', '-A')
    git('commit', '-q', '-m', message)
  }

  for (const [path, content] of Object.entries(files)) write(path, content)
  return { root, outside, write, git, commitAll }
}

/** The work context without gaze and memories, but for those that are given. */
export function contextWith(deps: Partial<ContextDeps> = {}) {
  const allowRoot = createAllowRoot({
    configured: () => [],
    workingDirectory: () => process.cwd(),
    movedDirectory: async () => process.cwd(),
    homeFolder: () => null,
  })
  return createContext({
    dwell: async () => [],
    memories: async () => [],
    onStoreFault: (error) => assert.fail(String(error)),
    allowRoot,
    countTokens,
    now: () => NOW,
    ...deps,
  })
}

/** Attention that ended some time before {@link NOW}. */
export function dwell(path: string, ms: number, options: { minutesAgo?: number; lines?: [number, number] } = {}) {
  const { minutesAgo = 0, lines } = options
  return {
    path,
    line_start: lines?.[0] ?? null,
    line_end: lines?.[1] ?? null,
    dwell_ms: ms,
    last_seen_at: new Date(NOW.getTime() - minutesAgo * 60_000).toISOString(),
    visits: 1,
  }
}
