import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createMemory, MemoryInput } from '../../src/memory/memory.ts'
import { createProjects, type Projects } from '../../src/projects/projects.ts'
import type { Store } from '../../src/store/store.ts'
import { openEmptyStore } from '../store/empty-store.ts'

describe('the project of a folder', () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'gazeway-identity-')))
  let store: Store
  let projects: Projects
  let elapsedMs = 0
  before(async () => {
    store = await openEmptyStore(join(base, 'data', 'store.db'))
    projects = createProjects(store, () => elapsedMs)
  })
  after(async () => {
    await store.close()
    rmSync(base, { recursive: true })
  })

  let made = 0
  const git = (folder: string, ...args: string[]) => {
    const own = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', '-c', 'protocol.file.allow=always']
    execFileSync('git', ['-C', folder, ...own, ...args], { stdio: 'pipe' })
  }
  function repository(name: string, remote?: string): string {
    const folder = join(base, name)
    mkdirSync(folder, { recursive: true })
    git(folder, 'init', '-q', '-b', 'main')
    git(folder, 'commit', '-q', '--allow-empty', '-m', `Begin ${name}, repository ${++made}`)
    if (remote !== undefined) git(folder, 'remote', 'add', 'origin', remote)
    return folder
  }
  /** Reads a second after what was read before. */
  const read = (...folders: string[]) => {
    elapsedMs += 1000
    return projects.at(folders)
  }
  const proposal = async (folder: string) => (await projects.of(folder))?.proposed ?? null
  const memory = () => createMemory({ store, now: () => new Date() })
  const remember = (project: string, key: string, value = key) =>
    memory().store(MemoryInput.parse({ key, value, project }))
  const recalled = async (project: string, key: string) =>
    (await memory().recall({ key, namespace: 'default', project })).memory?.value

  it('is that of its repository in every linked worktree, whichever was seen first', async () => {
    const shop = repository('worktrees/shop')
    const [one, two] = [join(base, 'worktrees/one'), join(base, 'worktrees/two')]
    git(shop, 'worktree', 'add', '-q', one)
    assert.deepEqual(await read(one), [shop])
    assert.deepEqual(await read(join(shop, '.')), [shop])
    git(shop, 'worktree', 'add', '-q', two)
    assert.deepEqual([await read(two), await proposal(two)], [[shop], null])
  })

  it('goes along with a moved folder, and what is cloned to its old path is another', async () => {
    const old = repository('moved/old', 'git@example.com:ann/shop.git')
    assert.deepEqual(await read(old), [old])
    const moved = join(base, 'moved/new')
    renameSync(old, moved)
    assert.deepEqual([await read(moved), await proposal(moved)], [[old], null])
    repository('moved/old', 'git@example.com:ann/blog.git')
    const [other] = await read(old)
    assert.notEqual(other, old)
    assert.deepEqual([await read(old), await read(moved)], [[other], [old]])
  })

  it('is proposed to a second clone, which reads nothing of it before it is trusted', async () => {
    const shop = repository('clones/shop')
    await read(shop)
    await remember(shop, 'deploy')
    await remember(shop, 'shared', 'of the shop')
    const clone = join(base, 'clones/copy')
    git(base, 'clone', '-q', shop, clone)
    assert.deepEqual([await read(clone), await proposal(clone)], [[clone], shop])
    await remember(clone, 'of the clone')
    await remember(clone, 'shared', 'of the clone')
    const kept = ['default/shared']
    assert.deepEqual(await projects.trust(clone), { project: shop, from: clone, moved: 1, kept })
    assert.deepEqual([await read(clone), await proposal(clone)], [[shop], null])
    assert.equal(await recalled(shop, 'of the clone'), 'of the clone')
    assert.equal(await recalled(shop, 'shared'), 'of the shop')
    assert.equal(await recalled(clone, 'shared'), 'of the clone')
    await assert.rejects(projects.trust(clone), { code: 'not_found' })
  })

  it('is only proposed to an archive with a forged repository', async () => {
    const shop = repository('forged/shop', 'https://example.com/ann/shop')
    await read(shop)
    const stranger = join(base, 'forged/stranger')
    cpSync(shop, stranger, { recursive: true })
    assert.deepEqual([await read(stranger), await proposal(stranger)], [[stranger], shop])
    const pretender = join(base, 'forged/pretender')
    mkdirSync(pretender)
    writeFileSync(join(pretender, '.git'), `gitdir: ${join(shop, '.git', 'worktrees', 'x')}\n`)
    assert.deepEqual([await read(pretender), await proposal(pretender)], [[pretender], null])
  })

  it('is not that of another repository from the same template', async () => {
    const first = repository('template/first', 'https://example.com/ann/first')
    await read(first)
    const second = join(base, 'template/second')
    git(base, 'clone', '-q', first, second)
    git(second, 'remote', 'set-url', 'origin', 'https://example.com/ann/second')
    assert.deepEqual([await read(second), await proposal(second)], [[second], null])
    rmSync(first, { recursive: true })
    const third = join(base, 'template/third')
    git(base, 'clone', '-q', second, third)
    git(third, 'remote', 'set-url', 'origin', 'git@example.com:ann/first.git')
    assert.deepEqual(await read(third), [first], 'the same remote over another protocol')
  })

  it('is its own in a submodule, which reads the facts of its parent too', async () => {
    const library = repository('modules/library')
    const shop = repository('modules/shop')
    git(shop, 'submodule', '--quiet', 'add', library, 'vendor/library')
    const inside = join(shop, 'vendor', 'library')
    assert.deepEqual(await read(inside), [inside, shop])
    assert.deepEqual(await read(shop), [shop])
  })

  it('is the folder without git, and none in the home folder; several folders have several', async () => {
    const plain = join(base, 'plain', 'notes')
    mkdirSync(plain, { recursive: true })
    assert.deepEqual(await read(plain), [plain])
    const shop = repository('plain/shop')
    mkdirSync(join(shop, 'packages'))
    assert.deepEqual(await read(join(shop, 'packages'), plain), [shop, plain])
    assert.deepEqual(await read(join(base, 'gone')), [])
    for (const shared of [homedir(), dirname(homedir()), '/']) assert.deepEqual(await read(shared), [])
  })

  it('stays for those who work in a folder that has gone: a worktree, a folder in it, one without git', async () => {
    const shop = repository('gone/shop')
    const tree = join(base, 'gone/tree')
    git(shop, 'worktree', 'add', '-q', tree)
    const inner = join(tree, 'packages')
    mkdirSync(inner)
    const plain = join(base, 'gone/plain')
    mkdirSync(plain)
    await remember(plain, 'note')
    const all = () => Promise.all([tree, inner, plain].map((folder) => read(folder)))
    assert.deepEqual(await all(), [[shop], [shop], [plain]])
    git(shop, 'worktree', 'remove', '--force', tree)
    rmSync(plain, { recursive: true })
    assert.deepEqual(await all(), [[shop], [shop], [plain]])
    assert.deepEqual(await read(join(base, 'gone/never')), [])
  })

  it('is read once a second, and again at once after a person has decided about it', async () => {
    const shop = repository('cached/shop')
    const clone = join(base, 'cached/clone')
    await read(shop)
    git(base, 'clone', '-q', shop, clone)
    let statements = 0
    const counting = store.db.withPlugin({
      transformQuery({ node }) {
        statements++
        return node
      },
      transformResult: async ({ result }) => result,
    })
    const counted = createProjects({ ...store, db: counting }, () => elapsedMs)
    /** Statements of a read, after some time. */
    const asks = async (afterMs: number) => {
      elapsedMs += afterMs
      const before = statements
      const [project] = await counted.at([clone])
      return [project, statements - before]
    }
    assert.deepEqual((await asks(0))[0], clone)
    assert.deepEqual(await asks(1000), [clone, 0])
    assert.deepEqual(await asks(1), [clone, 1])
    await counted.trust(clone)
    assert.deepEqual(await asks(0), [shop, 1])
    assert.deepEqual(await asks(0), [shop, 0])
    const other = repository('cached/other')
    await counted.merge(clone, other)
    assert.deepEqual(await asks(0), [other, 1])
    await counted.move(repository('cached/third'), clone)
    assert.deepEqual(await asks(0), [join(base, 'cached/third'), 1])
  })
})
