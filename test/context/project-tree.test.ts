import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createTreeReader, type ProjectTree } from '../../src/context/project-tree.ts'
import { createProject } from './project.ts'

const nobody = async () => new Set<string>()

describe('project tree', () => {
  it('keeps attended and changed files when a repository has more than the limit', async (t) => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`src/${i}.ts`, 'x']))
    const { root, write, commitAll } = createProject(t, { ...many, 'top.ts': 'x', 'very/deep/down/seen.ts': 'x' })
    commitAll()
    write('src/29.ts', 'changed')
    const attended = async () => new Set(['very/deep/down/seen.ts'])
    const { files, complete } = await createTreeReader({ limit: 5 })(root, attended)
    assert.equal(complete, false)
    assert.equal(files.length, 5)
    for (const kept of ['very/deep/down/seen.ts', 'src/29.ts', 'top.ts']) assert.ok(files.includes(kept), kept)
  })

  it('walks a folder that the repository around it ignores', async (t) => {
    const { root, commitAll } = createProject(t, { '.gitignore': 'scratch\n', 'scratch/a.ts': 'x' })
    commitAll()
    const { files, commits } = await createTreeReader({ limit: 100 })(join(root, 'scratch'), nobody)
    assert.deepEqual(files, ['a.ts'])
    assert.deepEqual(commits, [])
  })

  it('never lists node_modules, not even when it is committed', async (t) => {
    const { root, write, commitAll } = createProject(t, { 'a.ts': 'x', 'node_modules/x/index.js': 'x' })
    commitAll()
    write('node_modules/y/index.js', 'x')
    assert.deepEqual((await createTreeReader({ limit: 100 })(root, nobody)).files, ['a.ts'])
  })

  it('keeps its list while git says the same, and makes another with each file that comes or goes', async (t) => {
    const { root, write, commitAll } = createProject(t, { 'a.ts': 'x', 'b.ts': 'x' })
    commitAll()
    const read = createTreeReader({ limit: 100 })
    const files = async () => (await read(root, nobody)).files
    const first = await files()
    write('a.ts', 'changed')
    assert.equal(await files(), first, 'a list of its own for the same files')
    write('c.ts', 'new')
    assert.deepEqual(await files(), ['a.ts', 'b.ts', 'c.ts'])
    rmSync(join(root, 'c.ts'))
    assert.deepEqual(await files(), ['a.ts', 'b.ts'])
    rmSync(join(root, 'b.ts'))
    commitAll()
    assert.deepEqual(await files(), ['a.ts'])
  })

  it('is the same while git says the same, and shown to who asks meanwhile; another one after each change', async (t) => {
    const { root, write, git, commitAll } = createProject(t, { 'a.ts': 'x', 'b.ts': 'x' })
    commitAll()
    const reader = createTreeReader({ limit: 100 })
    const read = async () => {
      let last: ProjectTree | null = null
      const tree = await reader(root, async (it) => {
        last = it
        return new Set()
      })
      return { last, tree }
    }
    let known = await read()
    assert.equal(known.last, null)
    const changes: Record<string, () => unknown> = {
      'a changed file': () => write('a.ts', 'changed'),
      'another changed file': () => write('b.ts', 'changed'),
      'a file as it was': () => git('checkout', '-q', 'b.ts'),
      'a new file': () => write('c.ts', 'x'),
      'an added file': () => git('add', 'c.ts'),
      'a commit': () => git('commit', '-qam', 'Change'),
      'a deleted file': () => rmSync(join(root, 'b.ts')),
    }
    for (const [what, change] of Object.entries(changes)) {
      change()
      const after = await read()
      assert.equal(after.last, known.tree, `${what}: not shown what was`)
      assert.notEqual(after.tree, known.tree, `${what}: not seen`)
      known = await read()
      assert.equal(known.tree, after.tree, `${what}: another tree although nothing changed since`)
    }
  })

  for (const way of ['from git', 'without git'])
    it(`leaves out what Gazeway keeps in the project, ${way}`, async (t) => {
      const { root, write, commitAll } = createProject(t, { 'a.ts': 'x', 'config.json': '{}' })
      if (way === 'from git') commitAll()
      for (const file of ['config.json', 'admin.key', 'gazeway.db', 'gazeway.db-wal', 'notes.md']) {
        write(`other-data/${file}`, 'x')
      }
      write('data/config.json', '{}')
      const read = createTreeReader({ limit: 100, dataFolder: join(root, 'data') })
      assert.deepEqual((await read(root, nobody)).files.toSorted(), ['a.ts', 'config.json', 'other-data/notes.md'])
      assert.deepEqual((await read(join(root, 'data'), nobody)).files, [])
    })

  it('does without git where it is not installed, and says so', async (t) => {
    const { root, commitAll } = createProject(t, { 'a.ts': 'x', '.gitignore': 'b.ts\n', 'b.ts': 'x' })
    commitAll()
    const { PATH } = process.env
    process.env.PATH = root
    t.after(() => {
      process.env.PATH = PATH
    })
    const { files, notes } = await createTreeReader({ limit: 100 })(root, nobody)
    assert.deepEqual(files, ['.gitignore', 'a.ts'])
    assert.deepEqual(notes, ['changes and commits are unknown: git is not installed'])
  })
})
