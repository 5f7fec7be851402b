import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { contextWith, countTokens, createProject } from './project.ts'

const QUERY = 'where is the escrow released'
const FILES = {
  'a.ts': '/** Frees the money. */\nexport function releaseEscrow() {}\n',
  'b.ts': 'export const ledger = 1\n',
  'docs/c.md': '# Escrow\n',
}

type Project = ReturnType<typeof createProject>

/** Has git wait, before it looks for changes, until it is let go: another `git` before that of the machine. */
function holdGit(t: TestContext, { outside, write }: Project) {
  const held = join(outside, 'held')
  const path = process.env.PATH ?? ''
  mkdirSync(join(outside, 'bin'))
  write(
    '../bin/git',
    `#!/bin/sh
PATH='${path}'
case "$*" in *' status '* | *' --others '*) while [ -e '${held}' ]; do sleep 0.01; done ;; esac
exec git "$@"
`,
  )
  chmodSync(join(outside, 'bin/git'), 0o755)
  process.env.PATH = `${join(outside, 'bin')}${delimiter}${path}`
  t.after(() => {
    process.env.PATH = path
  })
  return { hold: () => writeFileSync(held, ''), letGo: () => rmSync(held, { force: true }) }
}

describe('work context while git looks for changes', () => {
  it('is composed from what git said last, and stands where that is still so', async (t) => {
    const project = createProject(t, FILES)
    project.commitAll()
    const git = holdGit(t, project)
    const { get } = contextWith({
      countTokens: (text) => {
        // Git goes on only when the context is at its first excerpt.
        if (text.includes('Frees the money')) git.letGo()
        return countTokens(text)
      },
    })
    const first = await get({ query: QUERY }, [project.root])
    git.hold()
    const second = await get({ query: QUERY }, [project.root])
    assert.deepEqual(second, first)
    assert.deepEqual(second.notes, [])
  })

  for (const [what, change] of Object.entries<(project: Project) => void>({
    'a changed file': ({ write }) => write('b.ts', 'export function releaseEscrow() {}\n'),
    'a new file': ({ write }) => write('new.ts', 'export function releaseEscrow() {}\n'),
    'a deleted file': ({ root }) => rmSync(join(root, 'a.ts')),
    'a commit': ({ write, git }) => {
      write('b.ts', 'export function releaseEscrow() {}\n')
      git('commit', '-qam', 'Release')
    },
  }))
    it(`is composed again where git finds ${what}`, async (t) => {
      const project = createProject(t, FILES)
      project.commitAll()
      const git = holdGit(t, project)
      let changed = false
      const { get } = contextWith({
        countTokens: (text) => {
          if (!changed && text.includes('Frees the money')) {
            changed = true
            change(project)
            git.letGo()
          }
          return countTokens(text)
        },
      })
      changed = true
      await get({ query: QUERY }, [project.root])
      changed = false
      git.hold()
      const context = await get({ query: QUERY }, [project.root])
      assert.equal(changed, true, 'nothing was composed while git ran')
      assert.deepEqual(context, await contextWith().get({ query: QUERY }, [project.root]))
    })

  it('is what a new process has, after whatever changes', async (t) => {
    const { root, write, git, commitAll } = createProject(t, FILES)
    commitAll()
    const { get } = contextWith()
    const changes = [
      () => write('b.ts', 'export function releaseEscrow() {}\n'),
      () => write('b.ts', 'export function releaseMoney() {}\n'),
      () => write('b.ts', 'export function releaseEscrow() { return 1 }\n'),
      () => write('new/d.ts', 'export const escrow = released\n'),
      () => git('add', '-A'),
      () => git('mv', 'a.ts', 'moved.ts'),
      () => rmSync(join(root, 'new/d.ts')),
      () => git('commit', '-qam', 'Change'),
      () => git('checkout', '-q', 'HEAD~1'),
      () => rmSync(join(root, '.git'), { recursive: true }),
      () => write('e.ts', 'export const escrow = 2\n'),
      () => commitAll('Again'),
    ]
    for (const [i, change] of changes.entries()) {
      change()
      const input = [{ query: QUERY }, { query: QUERY, focus: 'docs' }, {}][i % 3] ?? {}
      assert.deepEqual(await get(input, [root]), await contextWith().get(input, [root]), `change ${i}`)
    }
  })

  it('stops when the caller cancels meanwhile', async (t) => {
    const project = createProject(t, FILES)
    project.commitAll()
    const git = holdGit(t, project)
    const caller = new AbortController()
    let isFirst = true
    const { get } = contextWith({
      countTokens: (text) => {
        if (!isFirst && text.includes('Frees the money')) caller.abort()
        return countTokens(text)
      },
    })
    await get({ query: QUERY }, [project.root])
    isFirst = false
    git.hold()
    t.after(git.letGo)
    await assert.rejects(get({ query: QUERY }, [project.root], { signal: caller.signal }), { code: 'cancelled' })
  })
})
