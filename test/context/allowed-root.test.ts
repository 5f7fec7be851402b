import assert from 'node:assert/strict'
import { mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type AllowedRoots, createAllowRoot } from '../../src/context/allowed-root.ts'
import { createProject } from './project.ts'

/** Folders to allow and to refuse, in a home folder that is a git repository itself, as some people keep it. */
function places(t: Parameters<typeof createProject>[0], more: Partial<AllowedRoots> = {}) {
  const { root: home, outside } = createProject(t, {}, 'home')
  const at = (...parts: string[]) => join(home, ...parts)
  for (const folder of ['.git', 'open/src', 'code/app/.git', 'code/app/src', 'private', 'work/sub'])
    mkdirSync(at(folder), { recursive: true })
  mkdirSync(join(outside, 'elsewhere/.git'), { recursive: true })
  symlinkSync(at('private'), at('open/link'))
  symlinkSync(at('open'), at('alias'))
  const allow = createAllowRoot({
    configured: () => [],
    workingDirectory: () => at('work'),
    movedDirectory: async () => at('work'),
    homeFolder: () => home,
    ...more,
  })
  return { at, outside, allow }
}

const FORBIDDEN = { code: 'forbidden_path', param: 'root' }

describe('the root of a call', () => {
  it('lies in a root that the client declared, by any name of it', async (t) => {
    const { at, allow } = places(t)
    const declared = [at('open'), at('work')]
    for (const root of ['open', 'open/src', 'work/sub']) assert.equal((await allow(at(root), declared)).path, at(root))
    assert.deepEqual(await allow(at('alias/src'), declared), { path: at('open/src'), named: at('alias/src') })
    assert.equal((await allow(at('open/src'), [at('alias')])).path, at('open/src'))
    assert.equal((await allow(undefined, declared)).path, at('open'))
  })

  it('is refused elsewhere, through links and dots too, whether something is there or not', async (t) => {
    const { at, allow } = places(t, { configured: () => ['/'] })
    const outside = ['private', 'open/link', 'open/../private', 'code/app', 'openly', 'nowhere', '.', '..']
    for (const root of outside) await assert.rejects(allow(at(root), [at('open')]), FORBIDDEN, root)
    await assert.rejects(allow('/', [at('open')]), FORBIDDEN)
    await assert.rejects(allow(at('open/nowhere'), [at('open')]), { code: 'not_found', param: 'root' })
  })

  it('is found where the working directory was moved to, under its old names, and nowhere else', async (t) => {
    const { at, allow } = places(t, { movedDirectory: async () => at('moved') })
    renameSync(at('work'), at('moved'))
    for (const declared of [[], [at('work')]]) {
      assert.deepEqual(await allow(undefined, declared), { path: at('moved'), named: at('work') })
      assert.deepEqual(await allow(at('work/sub'), declared), { path: at('moved/sub'), named: at('work/sub') })
      assert.equal((await allow(at('moved/sub'), declared)).path, at('moved/sub'))
      await assert.rejects(allow(at('work/none'), declared), { code: 'not_found', param: 'root' })
      await assert.rejects(allow(at('private'), declared), FORBIDDEN)
    }
    await assert.rejects(allow(at('moved'), [at('open')]), FORBIDDEN)
    mkdirSync(at('work'))
    assert.equal((await allow(undefined, [at('work')])).path, at('work'), 'another folder has its old path')
  })

  it('is said to be unreadable below the working directory, not to have moved, where it cannot be looked at', async (t) => {
    const { at, allow } = places(t, { movedDirectory: async () => at('code/app') })
    // As below a folder that may not be entered: root may enter all.
    symlinkSync(at('work/src'), at('work/src'))
    mkdirSync(at('code/app/src/deep'))
    for (const declared of [[], [at('work')]])
      await assert.rejects(allow(at('work/src/deep'), declared), {
        code: 'not_found',
        param: 'root',
        message: /work.src.deep cannot be read \(ELOOP\)\. Let this user enter it/,
      })
    assert.equal((await allow(at('work/sub'), [])).path, at('work/sub'))
  })

  it('lies in a root of the configuration where the client declares none', async (t) => {
    const roots: string[] = []
    const { at, allow } = places(t, { configured: () => roots })
    roots.push(at('open'))
    assert.equal((await allow(at('open/src'), [])).path, at('open/src'))
    assert.equal((await allow(undefined, [])).path, at('open'), 'the working directory is in none of them')
    for (const root of ['work', 'code/app', 'private']) await assert.rejects(allow(at(root), []), FORBIDDEN, root)
  })

  it('lies in the working directory, or in a repository below the home folder, where nothing is declared', async (t) => {
    const { at, outside, allow } = places(t)
    assert.equal((await allow(undefined, [])).path, at('work'))
    for (const root of ['work/sub', 'code/app', 'code/app/src'])
      assert.equal((await allow(at(root), [])).path, at(root), root)
    for (const root of ['private', 'open', 'code', '.']) await assert.rejects(allow(at(root), []), FORBIDDEN, root)
    await assert.rejects(allow(join(outside, 'elsewhere'), []), FORBIDDEN)
  })

  it('lies in the working directory for a user without a home folder', async (t) => {
    const { at, allow } = places(t, { homeFolder: () => null })
    assert.equal((await allow(at('work/sub'), [])).path, at('work/sub'))
    await assert.rejects(allow(at('code/app'), []), FORBIDDEN)
  })
})
