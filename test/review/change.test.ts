import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { readChange } from '../../src/review/change.ts'
import type { Change, Hunk } from '../../src/review/change-parts.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { createRepository, numbered } from './repository.ts'

/** The change of the last commit, or of a range. */
async function changeIn(root: string, base = 'HEAD^', head = 'HEAD'): Promise<Change> {
  return readChange(await openCheckout(root), base, head)
}

const digestsOf = ({ parts }: Change): string[] => parts.map(({ digest }) => digest)

const hunksIn = ({ parts }: Change): Hunk[] => parts.filter((part) => part.kind === 'hunk')

/** Parts in short: kind and path, and the changed lines of hunks. */
const inShort = ({ parts }: Change): string[] =>
  parts.map((part) =>
    part.kind === 'hunk'
      ? `${part.path}: ${part.rows.flatMap(({ kind, text }) => (kind === ' ' ? [] : [kind + text])).join('')}`
      : `${part.path}: ${part.kind}`,
  )

function repositoryWith(t: TestContext, files: Record<string, string | Buffer>) {
  const repository = createRepository(t)
  repository.commitFiles(files)
  return repository
}

describe('the canonical change', () => {
  it('has the digest of git’s raw difference, whatever the configuration says', async (t) => {
    const repository = repositoryWith(t, { 'a.txt': 'one\n', 'b.txt': 'two\n' })
    repository.commitFiles({ 'a.txt': 'uno\n', 'c.txt': 'tre\n' })
    const raw = execFileSync('git', [
      '-C',
      repository.root,
      'diff-tree',
      '-r',
      '--raw',
      '--no-abbrev',
      '--no-renames',
      '-z',
      'HEAD^',
      'HEAD',
    ])
    const before = await changeIn(repository.root)
    assert.equal(before.digest, createHash('sha256').update(raw).digest('hex'))
    repository.write('order', 'c.txt\n')
    for (const setting of [
      'diff.noprefix=true',
      'diff.context=0',
      'diff.external=false',
      'diff.renames=copies',
      `diff.orderFile=${join(repository.root, 'order')}`,
      'diff.ignoreSubmodules=all',
      'diff.algorithm=histogram',
      'diff.relative=true',
      'core.abbrev=4',
      'core.quotePath=false',
      'color.ui=always',
    ])
      repository.git('config', ...setting.split('='))
    assert.deepEqual(await changeIn(repository.root), before)
  })

  it('shows what attributes of the same change, text conversions and replaced objects hide', async (t) => {
    const repository = repositoryWith(t, { 'pay.py': 'pay(1)\n' })
    repository.git('config', 'diff.calm.textconv', 'true')
    repository.commitFiles({ '.gitattributes': '*.py -diff\npay.py diff=calm\n', 'pay.py': 'pay(9)\n' })
    const honest = ['.gitattributes: +*.py -diff\n+pay.py diff=calm\n', 'pay.py: -pay(1)\n+pay(9)\n']
    assert.deepEqual(inShort(await changeIn(repository.root)), honest)
    repository.git('replace', repository.git('rev-parse', 'HEAD^{tree}'), repository.git('rev-parse', 'HEAD^^{tree}'))
    assert.equal(repository.git('diff', '--name-only', 'HEAD^', 'HEAD'), '')
    assert.deepEqual(inShort(await changeIn(repository.root)), honest)
  })

  it('shows a submodule that .gitmodules asks to ignore', async (t) => {
    const library = repositoryWith(t, { 'a.txt': 'one\n' })
    const repository = createRepository(t)
    repository.git('submodule', '--quiet', 'add', library.root, 'library')
    repository.git('config', '-f', '.gitmodules', 'submodule.library.ignore', 'all')
    repository.commit()
    library.commitFiles({ 'a.txt': 'two\n' })
    repository.git('-C', 'library', 'pull', '-q', library.root, 'main')
    repository.git('update-index', '--cacheinfo', `160000,${library.git('rev-parse', 'HEAD')},library`)
    repository.git('commit', '-q', '-m', 'Move the library')
    assert.equal(repository.git('diff-tree', '-r', 'HEAD^', 'HEAD'), '', 'git hides it')
    assert.deepEqual(inShort(await changeIn(repository.root)), ['library: submodule'])
  })

  it('tells apart a call that left a condition of Python, where only white space changed', async (t) => {
    const repository = repositoryWith(t, { 'pay.py': 'if paid:\n    ship()\n    pay()\n' })
    repository.commitFiles({ 'pay.py': 'if paid:\n    ship()\npay()\n' })
    const out = await changeIn(repository.root)
    assert.deepEqual(inShort(out), ['pay.py: -    pay()\n+pay()\n'])
    repository.git('reset', '-q', '--hard', 'HEAD^')
    repository.commitFiles({ 'pay.py': 'if paid:\n    ship()\n  pay()\n' })
    assert.notDeepEqual(digestsOf(await changeIn(repository.root)), digestsOf(out))
  })

  it('counts line ends and a missing last newline as changes', async (t) => {
    const repository = repositoryWith(t, { 'a.txt': 'one\ntwo\n', 'b.txt': 'one\ntwo\n' })
    repository.git('config', 'core.autocrlf', 'false')
    repository.commitFiles({ 'a.txt': 'one\r\ntwo\r\n', 'b.txt': 'one\ntwo' })
    assert.deepEqual(inShort(await changeIn(repository.root)), [
      'a.txt: -one\n-two\n+one\r\n+two\r\n',
      'b.txt: -two\n+two',
    ])
  })

  it('lists binaries, modes, links, empty, large and moved files as parts to acknowledge', async (t) => {
    const repository = repositoryWith(t, {
      'image.png': Buffer.from([1, 0, 2]),
      'run.sh': 'echo\n',
      'old/name.txt': numbered(40),
      'link.txt': 'text\n',
    })
    repository.write('image.png', Buffer.from([1, 0, 3]))
    chmodSync(join(repository.root, 'run.sh'), 0o755)
    renameSync(join(repository.root, 'old/name.txt'), join(repository.root, 'name.txt'))
    rmSync(join(repository.root, 'link.txt'))
    symlinkSync('/etc/passwd', join(repository.root, 'link.txt'))
    repository.write('empty', '')
    repository.write('large.txt', 'x'.repeat(5 * 1024 * 1024))
    repository.commit()
    assert.deepEqual(inShort(await changeIn(repository.root)), [
      'empty: empty',
      'image.png: binary',
      'large.txt: large',
      'link.txt: mode',
      'link.txt: -text\n+/etc/passwd',
      'name.txt: moved',
      'run.sh: mode',
    ])
  })

  it('tells a file that is gone from one that became empty, by an item of each', async (t) => {
    const repository = repositoryWith(t, { 'guard.ts': 'deny()\n', 'run.sh': 'echo\n' })
    chmodSync(join(repository.root, 'run.sh'), 0o755)
    repository.commit()
    const changeAfter = async (edit: () => void) => {
      edit()
      repository.commit()
      const change = await changeIn(repository.root)
      repository.git('reset', '-q', '--hard', 'HEAD^')
      return change
    }
    const gone = await changeAfter(() => rmSync(join(repository.root, 'guard.ts')))
    const emptied = await changeAfter(() => repository.write('guard.ts', ''))
    assert.deepEqual(inShort(gone), ['guard.ts: deleted', 'guard.ts: -deny()\n'])
    assert.deepEqual(inShort(emptied), ['guard.ts: empty', 'guard.ts: -deny()\n'])
    const [one, other] = [digestsOf(gone), digestsOf(emptied)]
    assert.notEqual(one[0], other[0])
    const script = await changeAfter(() => rmSync(join(repository.root, 'run.sh')))
    assert.deepEqual(inShort(script), ['run.sh: deleted', 'run.sh: -echo\n'])
  })

  it('takes a moved file that was edited for a removed and an added one', async (t) => {
    const repository = repositoryWith(t, { 'old.txt': numbered(3) })
    renameSync(join(repository.root, 'old.txt'), join(repository.root, 'new.txt'))
    repository.commitFiles({ 'new.txt': `${numbered(3)}line 4\n` })
    const [added, removed] = hunksIn(await changeIn(repository.root))
    assert.deepEqual([added?.path, added?.lines, removed?.path, removed?.lines], ['new.txt', 4, 'old.txt', 3])
  })

  it('names files that hide in their names without letting them', async (t) => {
    const repository = repositoryWith(t, { 'a.txt': 'one\n' })
    repository.write('new\nline\u202egpj.exe', 'x\n')
    repository.write(Buffer.from([0x63, 0x61, 0x66, 0xe9]), 'x\n')
    repository.commit()
    assert.deepEqual(
      hunksIn(await changeIn(repository.root)).map(({ path }) => path),
      ['caf\\xe9', 'new\\u{a}line\\u{202e}gpj.exe'],
    )
  })

  it('refuses an unknown revision, one that is a flag, and a clone that is too shallow', async (t) => {
    const repository = repositoryWith(t, { 'a.txt': 'one\n' })
    repository.commitFiles({ 'a.txt': 'two\n' })
    const shallow = createRepository(t)
    shallow.git('pull', '-q', '--depth', '1', `file://${repository.root}`, 'main')
    const refused = { code: 'not_found' }
    await assert.rejects(changeIn(repository.root, 'nowhere'), refused)
    await assert.rejects(changeIn(repository.root, '--all'), refused)
    await assert.rejects(changeIn(shallow.root), (error: Error) => /fetch deeper/.test(error.message))
  })

  it('refuses a name of a branch and a tag, or of a branch and a commit', async (t) => {
    const { root, git, commitFiles } = repositoryWith(t, { 'a.txt': 'one\n' })
    const base = git('rev-parse', 'HEAD')
    git('update-ref', 'refs/remotes/origin/main', base)
    const head = commitFiles({ 'a.txt': 'two\n' })
    const short = base.slice(0, 8)
    for (const name of ['origin/main', short, base, 'HEAD']) git('update-ref', `refs/tags/${name}`, head)
    const change = (from: string) => changeIn(root, from, 'HEAD')
    for (const name of ['origin/main', 'origin/main~0', short])
      await assert.rejects(change(name), { code: 'validation_failed', message: /names several commits/ }, name)
    for (const name of [base, 'refs/remotes/origin/main']) assert.equal((await change(name)).parts.length, 1, name)
    assert.equal((await changeIn(root, 'HEAD^', 'HEAD')).parts.length, 1)
    git('config', 'core.warnAmbiguousRefs', 'false')
    await assert.rejects(change('origin/main'), { code: 'validation_failed' })
  })

  it('is refused in a clone that is too shallow, with the reason of git', async (t) => {
    const { root, commitFiles } = repositoryWith(t, { 'a.txt': 'one\n' })
    commitFiles({ 'a.txt': 'two\n' })
    const shallow = createRepository(t)
    shallow.git('pull', '-q', '--depth', '1', `file://${root}`, 'main')
    const message = /^git refused \(fatal: Needed a single revision\)\. .*fetch deeper/
    await assert.rejects(changeIn(shallow.root), { code: 'not_found', message })
  })

  it('has the parents that the hash of a commit names, whatever info/grafts says', async (t) => {
    const { root, git, commitFiles } = repositoryWith(t, { 'a.txt': 'one\n' })
    const read = commitFiles({ 'a.txt': 'two\n' })
    const head = commitFiles({ 'b.txt': 'b\n' })
    writeFileSync(join(root, '.git/info/grafts'), `${head} ${git('rev-parse', 'HEAD^^')}\n`)
    assert.equal((await changeIn(root, 'HEAD^', 'HEAD')).base.commit, read)
  })
})

describe('the digest of a hunk', () => {
  it('survives a rebase over lines that were added above and below, and not one that changed its context', async (t) => {
    const repository = repositoryWith(t, { 'a.txt': numbered(60) })
    const edited = numbered(60).replace('line 30\n', 'LINE 30\n')
    repository.commitFiles({ 'a.txt': edited })
    const [before] = digestsOf(await changeIn(repository.root))
    repository.git('reset', '-q', '--hard', 'HEAD^')
    repository.commitFiles({ 'a.txt': `above\n${numbered(60)}below\n` })
    repository.commitFiles({ 'a.txt': `above\n${edited}below\n` })
    assert.deepEqual(digestsOf(await changeIn(repository.root)), [before])
    repository.commitFiles({ 'a.txt': numbered(60).replace('line 28\n', 'near\n') })
    repository.commitFiles({ 'a.txt': edited.replace('line 28\n', 'near\n') })
    assert.notDeepEqual(digestsOf(await changeIn(repository.root)), [before])
  })

  it('stays what it was when receipts were first made', async (t) => {
    const repository = repositoryWith(t, { 'a.txt': numbered(20), 'b.txt': 'one' })
    repository.commitFiles({
      'a.txt': numbered(20).replace('line 3\n', 'three\nmore\n').replace('line 17\n', ''),
      'b.txt': 'two\n',
    })
    assert.deepEqual(digestsOf(await changeIn(repository.root)), [
      '9d0368e66286c9e857c9346d78b97d42eeedd34df018548da157f9e1650880c1',
      '8725760124743620518091d0882957aada41e4c25233c281abfb0106c0386240',
      'ee0b3a916cce63504317b19c026b9317d33b37ef2a209d572a7e64a3ce403ca6',
    ])
  })

  it('numbers the lines of both files', async (t) => {
    const repository = repositoryWith(t, { 'a.txt': numbered(20) })
    repository.commitFiles({ 'a.txt': `zero\n${numbered(20).replace('line 10\n', '').replace('line 14\n', 'x\n')}` })
    const [, second] = hunksIn(await changeIn(repository.root))
    assert.deepEqual(
      second?.rows.map(({ kind, old, new: now }) => `${old ?? ''}${kind}${now ?? ''}`),
      ['7 8', '8 9', '9 10', '10-', '11 11', '12 12', '13 13', '14-', '+14', '15 15', '16 16', '17 17'],
    )
  })

  it('is made for 50,000 changed lines', async (t) => {
    const repository = repositoryWith(t, { 'a.txt': numbered(50_000) })
    repository.commitFiles({
      'a.txt': numbered(50_000).replace(/line (\d*[05])\n/g, 'changed $1\n'),
      'b.txt': numbered(30_000),
    })
    const change = await changeIn(repository.root)
    assert.equal(
      change.parts.reduce((sum, { lines }) => sum + lines, 0),
      50_000,
    )
  })
})
