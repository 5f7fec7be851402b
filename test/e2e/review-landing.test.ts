import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { readChange } from '../../src/review/change.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { RECEIPT_MEDIA_TYPE, readReceipts } from '../../src/review/receipt.ts'
import { trailerOf } from '../../src/review/trailers.ts'
import { fileSigner } from '../../src/signing/signer.ts'
import { REVIEW_LINK, readReview } from '../docs/read-review.ts'
import { createPerson, lineOf, receiptOf } from '../review/people.ts'
import { createRepository, numbered } from '../review/repository.ts'
import { runHere } from './in-process.ts'
import { CLI, newPlace, type Place } from './server.ts'

const ann = createPerson('ann@example.org')
const bob = createPerson('bob@example.org')

/** A repository with a policy that takes Ann and Bob. */
function createPoliced(t: TestContext, { sha256 = false } = {}) {
  const repository = createRepository(t)
  if (sha256) {
    rmSync(join(repository.root, '.git'), { recursive: true })
    repository.git('init', '-q', '-b', 'main', '--object-format=sha256')
  }
  const place = { ...newPlace(), project: repository.root }
  repository.commitFiles({
    'review.json': JSON.stringify({ version: 1, allowed_signers: 'allowed_signers', level: 'seen' }),
    allowed_signers: `${lineOf(ann)}\n${lineOf(bob)}`,
  })
  return { ...repository, place }
}

/** Receipt of a change in a folder as it is written, decided now. */
async function written(root: string, base = 'HEAD^', head = 'HEAD', person = ann): Promise<string> {
  const now = new Date().toISOString()
  const review = { times: { started_at: now, decided_at: now, active_ms: 1 } }
  const change = await readChange(await openCheckout(root), base, head)
  const { envelope } = await receiptOf(change, person, { review })
  return JSON.stringify({ mediaType: RECEIPT_MEDIA_TYPE, envelope })
}

const judge = (place: Place, range: string, receipts: string | null, project = place.project) =>
  runHere(
    { ...place, project },
    ['review', 'verify', ...(receipts === null ? [] : ['-']), '--range', range, '--policy', 'review.json'],
    {},
    receipts ?? '',
  )

async function linkIn(output: Readable): Promise<string> {
  for await (const line of createInterface(output)) {
    const [link] = REVIEW_LINK.exec(line) ?? []
    if (link !== undefined) return link
  }
  throw new Error('gazeway review printed no link.')
}

const PASSED = 'Passed: 1 hunk, read by ann@example.org.\n'

describe('what lands', () => {
  it('is judged by the notes of its commits, whatever else is in notes, which is named', async (t) => {
    const { place, root, git, commitFiles } = createPoliced(t)
    git('checkout', '-q', '-b', 'topic')
    const noted = commitFiles({ 'a.ts': 'send(1)\n' })
    git('notes', '--ref', 'reviews', 'add', '-m', await written(root), 'HEAD')
    git('checkout', '-q', 'main')
    const base = commitFiles({ 'b.ts': 'other\n' })
    git('notes', '--ref', 'reviews', 'add', '-m', 'Prose, on a commit that does not land', base)
    git('merge', '-q', '--no-ff', '-m', 'Merge', 'topic')
    assert.deepEqual(await judge(place, 'HEAD^..HEAD', null), { code: 0, stdout: PASSED, stderr: '' })
    git('notes', '--ref', 'reviews', 'append', '-m', 'Looks \x1b[2Jgood to me', noted)
    const beside = await judge(place, 'HEAD^..HEAD', null)
    assert.deepEqual([beside.code, beside.stdout], [0, PASSED])
    assert.equal(
      beside.stderr,
      `The note of ${noted.slice(0, 10)}:2 is no review receipt: it: Invalid input: expected object, received undefined. ` +
        'It begins with: Looks  [2Jgood to me\n',
    )
    git('notes', '--ref', 'reviews', 'remove', noted)
    const without = await judge(place, 'HEAD^..HEAD', null)
    assert.match(
      without.stderr,
      /^No commit of the range has a receipt in refs\/notes\/reviews, and no merge or squash/,
    )
    assert.equal(without.code, 1)
  })

  it('is not judged where git cannot read the notes', async (t) => {
    const { place, root, git, commitFiles } = createPoliced(t)
    commitFiles({ 'a.ts': 'send(1)\n' })
    git('notes', '--ref', 'reviews', 'add', '-m', await written(root), 'HEAD')
    mkdirSync(join(root, '.git/refs/notes'), { recursive: true })
    writeFileSync(join(root, '.git/refs/notes/reviews'), 'damaged\n')
    const { code, stdout, stderr } = await judge(place, 'HEAD^..HEAD', null)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /refs\/notes\/reviews/)
  })

  it('passes in a repository of SHA-256, a linked worktree and a submodule, and fails there once it changed', async (t) => {
    const outer = createPoliced(t)
    const inner = createPoliced(t)
    inner.commitFiles({ 'a.ts': 'send(1)\n' })
    outer.git('submodule', '--quiet', 'add', inner.root, 'inner')
    const modern = createPoliced(t, { sha256: true })
    modern.commitFiles({ 'a.ts': 'send(1)\n' })
    const worktree = join(modern.place.home, 'linked')
    modern.git('worktree', 'add', '-q', '-b', 'linked', worktree)
    for (const folder of [modern.root, worktree, join(outer.root, 'inner')]) {
      const receipt = await written(folder)
      assert.deepEqual(await judge(outer.place, 'HEAD^..HEAD', receipt, folder), {
        code: 0,
        stdout: PASSED,
        stderr: '',
      })
      writeFileSync(join(folder, 'a.ts'), 'send(2)\n')
      modern.git('-C', folder, 'commit', '-qa', '--amend', '--no-edit')
      assert.equal((await judge(outer.place, 'HEAD^..HEAD', receipt, folder)).code, 1, folder)
    }
  })

  it('is refused in a clone without the files, which says what to fetch', async (t) => {
    const { place, root, git, commitFiles } = createPoliced(t)
    commitFiles({ 'a.ts': 'send(1)\n' })
    commitFiles({ 'a.ts': 'send(2)\n' })
    const receipt = await written(root)
    git('config', 'uploadpack.allowFilter', 'true')
    const clone = join(place.home, 'partial')
    git('clone', '-q', '--filter=blob:none', '--no-checkout', `file://${root}`, clone)
    const lacking = await judge(place, 'HEAD^..HEAD', receipt, clone)
    assert.deepEqual([lacking.code, lacking.stdout], [1, ''])
    assert.match(lacking.stderr, /without --filter/)
    git('-C', clone, 'checkout', '-q', 'main')
    git('-C', clone, 'cat-file', '-p', 'HEAD^:a.ts')
    assert.deepEqual(await judge(place, 'HEAD^..HEAD', receipt, clone), { code: 0, stdout: PASSED, stderr: '' })
  })

  it('is judged by the bytes of its paths, and writes none that hides or breaks a line', async (t) => {
    const { place, root, write, commit, commitFiles } = createPoliced(t)
    const names = [
      'a\nb: read.ts',
      'tab\there',
      'quo"te',
      "it's",
      'back\\slash',
      'rtl\u202etxt.exe',
      'a\r.ts',
      ' ',
      'A.ts',
      'a.ts',
    ]
    for (const name of names) write(name, 'send(1)\n')
    write(Buffer.from([0x66, 0xff, 0x2e, 0x74, 0x73]), 'send(1)\n')
    commit()
    const unread = await judge(place, 'HEAD^..HEAD', '')
    assert.equal(unread.code, 1)
    const lines = unread.stdout.trimEnd().split('\n')
    assert.equal(lines.length, names.length + 2)
    assert.ok(lines.slice(0, -1).every((line) => /:1: in no receipt that counts$/.test(line)))
    assert.doesNotMatch(unread.stdout, /[\u202e\t\r]|\xff/)
    assert.equal(new Set(lines).size, lines.length)
    const receipt = await written(root)
    assert.equal((await judge(place, 'HEAD^..HEAD', receipt)).code, 0)
    commitFiles({ 'a.ts': 'send(1)\nsend(2)\n' })
    const other = await written(root)
    writeFileSync(join(root, 'a.ts'), 'send(1)\n')
    writeFileSync(join(root, 'A.ts'), 'send(1)\nsend(2)\n')
    commit()
    assert.match((await judge(place, 'HEAD~2..HEAD', other)).stdout, /^A\.ts:2: in no receipt/)
  })

  it('has a link, its new target and a moved submodule to be read, each by itself', async (t) => {
    const { place, root, git, commit, commitFiles } = createPoliced(t)
    const library = createRepository(t)
    library.commitFiles({ 'one.ts': 'one\n' })
    git('submodule', '--quiet', 'add', library.root, 'library')
    commitFiles({ 'config.ts': 'safe\n', 'evil.ts': 'evil\n' })
    symlinkSync('config.ts', join(root, 'link'))
    commit('Link')
    const link = await written(root)
    assert.equal(
      (await judge(place, 'HEAD^..HEAD', link)).stdout,
      'Passed: 1 hunk and 1 item, read by ann@example.org.\n',
    )
    unlinkSync(join(root, 'link'))
    symlinkSync('evil.ts', join(root, 'link'))
    commit('Lead elsewhere')
    assert.match((await judge(place, 'HEAD^..HEAD', link)).stdout, /^link:1: in no receipt/)
    unlinkSync(join(root, 'config.ts'))
    symlinkSync('evil.ts', join(root, 'config.ts'))
    commit('A link in the place of a file')
    assert.match((await judge(place, 'HEAD^..HEAD', link)).stdout, /^config\.ts \(mode\): in no receipt/)
    git('mv', 'library', 'elsewhere')
    commit('Move the library')
    const moved = await written(root)
    assert.equal((await judge(place, 'HEAD^..HEAD', moved)).code, 0)
    library.commitFiles({ 'one.ts': 'two\n' })
    git('-C', 'elsewhere', 'pull', '-q', library.root, 'main')
    commit('Move it on')
    assert.match((await judge(place, 'HEAD^..HEAD', moved)).stdout, /^elsewhere \(submodule\): in no receipt/)
    assert.match((await judge(place, 'HEAD~2..HEAD', moved)).stdout, /elsewhere \(submodule\): in no receipt/)
  })

  it('passes as an octopus merge with the receipts of all its branches, and fails for what the merge adds', async (t) => {
    const { place, root, git, commitFiles } = createPoliced(t)
    const base = commitFiles({ 'a.ts': numbered(20) })
    const trailers: string[] = []
    for (const [branch, person] of [
      ['one', ann],
      ['two', bob],
      ['three', ann],
    ] as const) {
      git('checkout', '-q', '-b', branch, base)
      const head = commitFiles({ [`${branch}.ts`]: 'send(1)\n' })
      const receipt = await written(root, base, head, person)
      git('notes', '--ref', 'reviews', 'append', '-m', receipt, base)
      const [opened] = readReceipts(receipt, branch)
      assert.ok(opened)
      trailers.push(trailerOf(opened.payload))
    }
    git('checkout', '-q', 'main')
    commitFiles({ 'main.ts': 'other\n' })
    git('merge', '-q', '-m', `Merge\n\n${trailers.join('\n')}`, 'one', 'two', 'three')
    assert.equal(git('rev-list', '--parents', '-1', 'HEAD').split(' ').length, 5)
    assert.match((await judge(place, 'HEAD^..HEAD', null)).stdout, /^Passed: 3 hunks, read by (ann|bob)@example\.org, /)
    writeFileSync(join(root, 'evil.ts'), 'evil\n')
    git('add', '-A')
    git('commit', '-q', '--amend', '--no-edit')
    assert.match((await judge(place, 'HEAD^..HEAD', null)).stdout, /^evil\.ts:1: in no receipt/)
  })

  it('takes the receipt of a change for its revert’s revert, and not for the revert', async (t) => {
    const { place, root, git, commitFiles } = createPoliced(t)
    commitFiles({ 'a.ts': numbered(20) })
    commitFiles({ 'a.ts': numbered(20).replace('line 9\n', 'check()\n') })
    const receipt = await written(root)
    git('revert', '--no-edit', 'HEAD')
    assert.match((await judge(place, 'HEAD^..HEAD', receipt)).stdout, /^a\.ts:9: in no receipt/)
    git('revert', '--no-edit', 'HEAD')
    assert.equal((await judge(place, 'HEAD^..HEAD', receipt)).code, 0)
  })

  it('is read by two people at once on one machine, and each has a receipt', async (t) => {
    const { place, root, commitFiles, git } = createPoliced(t)
    commitFiles({ 'a.ts': 'send(1)\n' })
    const review = async (name: string) => {
      const args = ['review', '--reviewer', name, '--repository', name]
      const child = spawn(process.execPath, [CLI, ...args], { cwd: root, env: place.env })
      t.after(() => child.kill('SIGKILL'))
      const ended = once(child, 'exit')
      await readReview(await linkIn(child.stdout))
      assert.deepEqual(await ended, [0, null])
    }
    await Promise.all([review(ann.name), review(bob.name)])
    const folder = join(root, '.git/gazeway/reviews')
    const receipts = readdirSync(folder).flatMap((name) => readReceipts(readFileSync(join(folder, name), 'utf8'), name))
    assert.deepEqual(receipts.map(({ review }) => [review.reviewer.id, review.repository]).sort(), [
      [ann.name, ann.name],
      [bob.name, bob.name],
    ])
    assert.ok(
      receipts.every(
        ({ review, subjects }) => review.coverage.seen === 1 && subjects.gitCommit === git('rev-parse', 'HEAD'),
      ),
    )
  })

  it('is what was read before it was committed: what was staged, or a patch', async (t) => {
    const { place, root, write, git, commit, commitFiles } = createPoliced(t)
    const key = join(place.home, 'key.pem')
    const { privateKey } = generateKeyPairSync('ed25519')
    writeFileSync(key, privateKey.export({ format: 'pem', type: 'pkcs8' }))
    const eve = { name: 'eve@example.org', signer: fileSigner(readFileSync(key, 'utf8')) }
    commitFiles({ allowed_signers: lineOf(eve) })
    const out = join(place.home, 'receipt.json')
    const review = async (...args: string[]) => {
      const flags = ['--reviewer', eve.name, '--sign', key, '--out', out, ...args]
      const child = spawn(process.execPath, [CLI, 'review', ...flags], { cwd: root, env: place.env })
      t.after(() => child.kill('SIGKILL'))
      const ended = once(child, 'exit')
      await readReview(await linkIn(child.stdout))
      assert.deepEqual(await ended, [0, null])
      return readFileSync(out, 'utf8')
    }
    write('a.ts', 'send(1)\n')
    git('add', 'a.ts')
    const staged = await review('--staged')
    write('a.ts', 'send(2)\n')
    const patch = join(place.home, 'change.patch')
    writeFileSync(patch, `${git('diff')}\n`)
    git('commit', '-qm', 'Pay')
    git('checkout', '-q', 'a.ts')
    const passed = { code: 0, stdout: 'Passed: 1 hunk, read by eve@example.org.\n', stderr: '' }
    assert.deepEqual(await judge(place, 'HEAD^..HEAD', staged), passed)
    const patched = await review('--patch', patch)
    git('apply', patch)
    commit('Pay more')
    assert.deepEqual(await judge(place, 'HEAD^..HEAD', patched), passed)
    assert.equal((await judge(place, 'HEAD^..HEAD', staged)).code, 1)
  })
})
