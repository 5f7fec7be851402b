import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { checkoutHistory } from '../../src/projects/checkout-history.ts'
import { readRepositoryFacts } from '../../src/projects/repository-facts.ts'
import { createRepository } from '../review/repository.ts'

const HOUR_MS = 3_600_000

describe('facts of a repository', () => {
  it('name the remote without its token, the branch, the commit and changes', async (t) => {
    const { root, git, commitFiles, write } = createRepository(t)
    const commit = commitFiles({ 'pay.ts': 'pay()' }, 'Pay')
    git('remote', 'add', 'origin', 'https://ann:ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@GitHub.com/ann/shop.git')
    const facts = await readRepositoryFacts(root)
    const { committedAt, ...said } = facts ?? assert.fail('no facts')
    assert.deepEqual(said, { top: root, repository: 'github.com/ann/shop', branch: 'main', commit, dirty: false })
    assert.equal(committedAt?.getTime(), Number(git('log', '-1', '--format=%ct')) * 1000)
    write('pay.ts', 'pay(2)')
    git('checkout', '-q', '-b', 'feature/pay')
    const changed = await readRepositoryFacts(root)
    assert.deepEqual([changed?.branch, changed?.dirty], ['feature/pay', true])
  })

  it('name the first commit without a remote that others reach, and nothing in a shallow clone of it', async (t) => {
    const { root, git, commit } = createRepository(t)
    assert.deepEqual(
      await readRepositoryFacts(root),
      { top: root, repository: null, branch: 'main', commit: null, committedAt: null, dirty: false },
      'before the first commit',
    )
    const first = commit('First')
    commit('Second')
    git('remote', 'add', 'origin', join(root, 'bare.git'))
    assert.equal((await readRepositoryFacts(root))?.repository, `root:${first}`)
    git('clone', '-q', '--depth', '1', `file://${root}`, 'shallow')
    const shallow = await readRepositoryFacts(join(root, 'shallow'))
    assert.deepEqual([shallow?.repository, shallow?.commit], [null, git('rev-parse', 'HEAD')])
  })

  it('are of the worktree, and of the submodule, that the folder is in', async (t) => {
    const library = createRepository(t)
    const inLibrary = library.commitFiles({ 'lib.ts': '' })
    const { root, git, commitFiles } = createRepository(t)
    commitFiles({ 'src/pay.ts': '' })
    git('remote', 'add', 'origin', 'git@github.com:ann/shop.git')
    git('submodule', '--quiet', 'add', library.root, 'lib')
    git('worktree', 'add', '-q', '-b', 'agent/1', 'beside')
    const worktree = await readRepositoryFacts(join(root, 'beside', 'src'))
    assert.deepEqual(
      [worktree?.top, worktree?.repository, worktree?.branch],
      [join(root, 'beside'), 'github.com/ann/shop', 'agent/1'],
    )
    const submodule = await readRepositoryFacts(join(root, 'lib'))
    assert.deepEqual([submodule?.repository, submodule?.commit], [`root:${inLibrary}`, inLibrary])
  })

  it('have no branch for a detached HEAD, and that of a rebase in the middle of it', async (t) => {
    const { root, git, commit, commitFiles } = createRepository(t)
    commit('First')
    git('checkout', '-q', '--detach')
    assert.equal((await readRepositoryFacts(root))?.branch, null)
    git('checkout', '-q', '-b', 'feature/pay', 'main')
    commitFiles({ 'pay.ts': 'ours' })
    git('checkout', '-q', 'main')
    commitFiles({ 'pay.ts': 'theirs' })
    git('checkout', '-q', 'feature/pay')
    assert.throws(() => git('rebase', 'main'), /Command failed/)
    assert.equal((await readRepositoryFacts(root))?.branch, 'feature/pay')
  })

  it('run no program of the repository, and are none for a folder without one', async (t) => {
    const { root, git, commitFiles, write } = createRepository(t)
    commitFiles({ 'a.txt': 'a', '.gitattributes': '*.txt filter=spy' })
    write('spy.sh', `#!/bin/sh\ntouch ${root}/ran\ncat\n`)
    execFileSync('chmod', ['+x', join(root, 'spy.sh')])
    for (const name of ['filter.spy.clean', 'filter.spy.process', 'core.fsmonitor', 'gpg.program', 'core.pager'])
      git('config', name, join(root, 'spy.sh'))
    writeFileSync(join(root, 'a.txt'), 'b')
    assert.equal((await readRepositoryFacts(root))?.dirty, true)
    await checkoutHistory(root, new Date(0))
    assert.equal(existsSync(join(root, 'ran')), false)
    assert.equal(await readRepositoryFacts(tmpdir()), null)
    assert.equal(await readRepositoryFacts(join(root, 'missing')), null)
  })
})

describe('the history of a checkout', () => {
  const ago = (ms: number) => new Date(Math.floor((Date.now() - ms) / 1000) * 1000)
  const subjects = async (root: string, since: Date) =>
    (await checkoutHistory(root, since)).made.map(({ subject }) => subject)

  it('has the commits that an amend has left, and says which it has replaced', async (t) => {
    const { root, git, commit } = createRepository(t)
    const first = commit('First')
    const draft = commit('Draft')
    git('commit', '-q', '--amend', '--allow-empty', '-m', 'Pay')
    const { made, present } = await checkoutHistory(root, ago(HOUR_MS))
    assert.deepEqual(
      made.map(({ subject }) => subject),
      ['First', 'Pay'],
    )
    assert.deepEqual([present?.has(first), present?.has(draft)], [true, false])
    assert.deepEqual(await subjects(root, new Date(Date.now() + HOUR_MS)), [])
  })

  it('keeps the time of commits that a rebase copies, and leaves out those of before and of others', async (t) => {
    const { root, git, commit } = createRepository(t)
    commit('First', '--date', ago(3 * HOUR_MS).toISOString())
    git('checkout', '-q', '-b', 'feature/pay')
    commit('Of yesterday', '--date', ago(20 * HOUR_MS).toISOString())
    const written = ago(HOUR_MS)
    commit('Pay', '--date', written.toISOString())
    git('clone', '-q', '-b', 'main', root, 'theirs')
    execFileSync('git', [
      ...['-C', join(root, 'theirs'), '-c', 'user.name=Bob', '-c', 'user.email=bob@example.org'],
      ...['commit', '-q', '--allow-empty', '-m', 'By another'],
    ])
    git('fetch', '-q', join(root, 'theirs'), 'main')
    git('rebase', '-q', 'FETCH_HEAD')
    const { made } = await checkoutHistory(root, ago(2 * HOUR_MS))
    const pay = made.filter(({ subject }) => subject !== 'First')
    assert.deepEqual(pay, [
      { sha: git('rev-parse', 'HEAD'), at: new Date(written.getTime() + 999).toISOString(), subject: 'Pay' },
    ])
  })

  it('has the changes of the branch', async (t) => {
    const { root, git, commit } = createRepository(t)
    commit('First')
    git('checkout', '-q', '-b', 'feature/pay')
    git('checkout', '-q', '--detach')
    const { switches } = await checkoutHistory(root, ago(HOUR_MS))
    assert.deepEqual(
      switches.map(({ from, to }) => [from, to]),
      [
        ['main', 'feature/pay'],
        ['feature/pay', null],
      ],
    )
  })
})
