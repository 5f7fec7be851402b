import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { createMemory, MemoryInput } from '../../src/memory/memory.ts'
import { createProjects } from '../../src/projects/projects.ts'
import type { Store } from '../../src/store/store.ts'

/** Projects of folders without git, on every engine. `open` opens an empty store. */
export function projectsContract(open: () => Promise<Store>): void {
  describe('the project of a folder without git', () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'gazeway-places-')))
    after(() => rmSync(base, { recursive: true }))

    async function start() {
      const store = await open()
      const projects = createProjects(store)
      const memory = createMemory({ store, now: () => new Date() })
      return {
        store,
        projects,
        read: (...folders: string[]) => projects.at(folders),
        proposal: async (folder: string) => (await projects.of(folder))?.proposed ?? null,
        remember: (project: string, key: string) => memory.store(MemoryInput.parse({ key, value: key, project })),
      }
    }

    it('is known by a file without git, in another place once that is trusted', async () => {
      const { store, projects, read, proposal } = await start()
      const notes = join(base, 'file', 'notes')
      mkdirSync(join(notes, 'inner'), { recursive: true })
      await projects.init(notes)
      assert.match(readFileSync(join(notes, '.gazeway', 'project'), 'utf8'), /^prj_[0-9a-f]{32}\n$/)
      assert.deepEqual(await read(join(notes, 'inner')), [notes])
      const copy = join(base, 'file', 'copy')
      cpSync(notes, copy, { recursive: true })
      assert.deepEqual([await read(copy), await proposal(copy)], [[copy], notes])
      await projects.trust(copy)
      assert.deepEqual(await read(copy), [notes])
      await assert.rejects(projects.init(copy), { code: 'conflict' })
      const later = join(base, 'file', 'later')
      cpSync(notes, later, { recursive: true })
      for (const folder of [notes, copy]) rmSync(folder, { recursive: true })
      assert.deepEqual([await read(later), await proposal(later)], [[later], notes], 'also once the others are gone')
      await store.close()
    })

    it('is joined with another, and given another folder, by a person', async () => {
      const { store, projects, read, remember } = await start()
      const [old, now, third] = ['old', 'now', 'third'].map((name) => join(base, 'joined', name)) as [
        string,
        string,
        string,
      ]
      for (const folder of [old, now, third]) mkdirSync(folder, { recursive: true })
      await remember(old, 'deploy')
      rmSync(old, { recursive: true })
      assert.deepEqual(await projects.move(old, now), { project: old, from: now, moved: 0, kept: [] })
      assert.deepEqual(await read(now), [old])
      await remember(third, 'third')
      assert.deepEqual(await projects.merge(third, now), { project: old, from: third, moved: 1, kept: [] })
      assert.deepEqual(await read(third), [old])
      const listed = (await projects.list()).find(({ project }) => project === old)
      assert.equal(listed?.memories, 2)
      assert.deepEqual(
        listed?.places.map(({ path }) => path),
        [now, third],
      )
      await assert.rejects(projects.merge(join(base, 'nowhere'), now), { code: 'not_found' })
      await store.close()
    })

    it('is meant by a name that has joined another as long as that has memories, and is merged again', async () => {
      const { store, projects, remember } = await start()
      const [shop = '', copy = ''] = ['shop', 'copy'].map((name) => join(base, 'left', name))
      for (const folder of [shop, copy]) mkdirSync(folder, { recursive: true })
      for (const project of [shop, copy]) await remember(project, 'shared')
      const kept = ['default/shared']
      assert.deepEqual(await projects.merge(copy, shop), { project: shop, from: copy, moved: 0, kept })
      assert.deepEqual([await projects.named(copy), await projects.named(shop)], [copy, shop])
      const memory = createMemory({ store, now: () => new Date() })
      await memory.forget({ key: 'shared', namespace: 'default', project: shop })
      assert.deepEqual(await projects.merge(copy, shop), { project: shop, from: copy, moved: 1, kept: [] })
      assert.equal(await projects.named(copy), shop)
      await store.close()
    })
  })
}
