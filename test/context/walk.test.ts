import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { walk } from '../../src/context/walk.ts'
import { turnsDuring } from '../doubles/turns.ts'
import { createProject } from './project.ts'

describe('walking a project without git', () => {
  it('honours .gitignore files, the inner ones over the outer ones', async (t) => {
    const { root } = createProject(t, {
      '.gitignore': '*.log\n/dist\nbuild/\n',
      'a.ts': '',
      'a.log': '',
      'dist/a.js': '',
      'src/dist/kept.js': '',
      'src/build/a.o': '',
      'src/.gitignore': '!keep.log\n/only-here\n',
      'src/keep.log': '',
      'src/drop.log': '',
      'src/only-here': '',
      'src/deep/only-here': '',
    })
    const { files, complete } = await walk(root, 100)
    assert.deepEqual(files.sort(), [
      '.gitignore',
      'a.ts',
      'src/.gitignore',
      'src/deep/only-here',
      'src/dist/kept.js',
      'src/keep.log',
    ])
    assert.equal(complete, true)
  })

  it('skips node_modules, .git and links', async (t) => {
    const { root, outside } = createProject(t, {
      'a.ts': '',
      'node_modules/x/index.js': '',
      '.git/config': '',
      'real/b.ts': '',
    })
    mkdirSync(join(outside, 'elsewhere'))
    writeFileSync(join(outside, 'elsewhere', 'private.txt'), 'private')
    symlinkSync(join(outside, 'elsewhere'), join(root, 'folder-link'))
    symlinkSync(join(outside, 'elsewhere', 'private.txt'), join(root, 'file-link'))
    symlinkSync(root, join(root, 'real', 'loop'))
    assert.deepEqual((await walk(root, 100)).files.sort(), ['a.ts', 'real/b.ts'])
  })

  it('stops at its limit, the shallowest files first, and says so', async (t) => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`deep/er/${i}.ts`, '']))
    const { root } = createProject(t, { ...many, 'top.ts': '' })
    const { files, complete } = await walk(root, 20)
    assert.equal(complete, false)
    assert.equal(files.length, 20)
    assert.equal(files[0], 'top.ts')
  })

  it('is not held up by a pattern made to match for minutes', async (t) => {
    const { root } = createProject(t, { '.gitignore': `${'*a'.repeat(30)}b\n`, [`${'a'.repeat(200)}`]: '' })
    assert.equal((await walk(root, 100)).files.length, 2)
  })

  it('ends when folders are matched for longer than anyone waits', async (t) => {
    const { root } = createProject(t, { '.gitignore': `${'**/a/'.repeat(12)}b\n`, [`${'a/'.repeat(80)}c`]: '' })
    const turns = await turnsDuring(async () => assert.equal((await walk(root, 100)).complete, false))
    assert.ok(turns > 100, `${turns} turns in 2 s`)
  })

  it('ends at once when it is cancelled meanwhile', async (t) => {
    const { root } = createProject(t, { '.gitignore': `${'**/a/'.repeat(12)}b\n`, [`${'a/'.repeat(80)}c`]: '' })
    const over = new AbortController()
    const walking = walk(root, 100, over.signal)
    setTimeout(() => over.abort(), 300)
    await assert.rejects(walking, { code: 'cancelled' })
  })

  it('passes over a pattern that is longer than any path', async (t) => {
    const { root } = createProject(t, { '.gitignore': `${'\\ '.repeat(100_000)}\n/b\n`, a: '', b: '' })
    assert.deepEqual((await walk(root, 100)).files, ['.gitignore', 'a'])
  })
})
