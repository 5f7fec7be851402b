import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { on, once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { readChange } from '../../src/review/change.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { RECEIPT_MEDIA_TYPE, readReceipts } from '../../src/review/receipt.ts'
import { receiptPayload, unsigned } from '../../src/review/statement.ts'
import { trailerOf } from '../../src/review/trailers.ts'
import { parseAllowedSigners } from '../../src/signing/allowed-signers.ts'
import { fileSigner } from '../../src/signing/signer.ts'
import { REVIEW_LINK, readReview } from '../docs/read-review.ts'
import { createPerson, lineOf, type Person, receiptOf, reviewOf } from '../review/people.ts'
import { createRepository, numbered } from '../review/repository.ts'
import { createKeyFolder, WITHOUT_OPENSSH } from '../signing/openssh.ts'
import { runHere } from './in-process.ts'
import { CLI, newPlace } from './server.ts'

const ann = createPerson('ann@example.org')

/** Commands that the page shows, each with its output. */
const shown = [
  ...readFileSync('docs/reference/reviews.md', 'utf8').matchAll(/```console\n\$ gazeway (.*)\n([^`]*)```/g),
]

/** A repository with a policy, allowed signers and one commit that is to be judged. */
function createGated(t: TestContext, policy: object = {}) {
  const repository = createRepository(t)
  const place = { ...newPlace(), project: repository.root }
  repository.commitFiles({
    'review.json': JSON.stringify({ version: 1, allowed_signers: 'allowed_signers', level: 'seen', ...policy }),
    allowed_signers: lineOf(ann),
    'src/pay.ts': 'export function pay() {\n  check()\n  send()\n}\n',
  })
  const pay = (third: string) => repository.write('src/pay.ts', `export function pay() {\n  check()\n  ${third}\n}\n`)
  pay('send(1)')
  repository.commitFiles({ 'README.md': 'Pays.\n' })

  /** Writes a receipt of the last commit beside the files, uncommitted. */
  async function review(person: Person = ann): Promise<void> {
    const change = await readChange(await openCheckout(repository.root), 'HEAD^', 'HEAD')
    const now = new Date().toISOString()
    const { mediaType, envelope } = await receiptOf(change, person, {
      review: { times: { started_at: now, decided_at: now, active_ms: 1 } },
    })
    writeFileSync(join(place.home, 'receipt.json'), JSON.stringify({ mediaType, envelope }))
  }

  const verify = (...args: string[]) =>
    runHere(place, [
      'review',
      'verify',
      join(place.home, 'receipt.json'),
      '--range',
      'HEAD^..HEAD',
      '--policy',
      'review.json',
      ...args,
    ])
  return { ...repository, place, pay, review, verify }
}

describe('gazeway review verify', () => {
  it('prints what the page shows, for a change that was read, and for one that changed afterwards', async (t) => {
    const { pay, review, git, place } = createGated(t)
    await review()
    const outputs: string[] = []
    for (const [, command = ''] of shown) {
      const words = command.replace('receipt.json', join(place.home, 'receipt.json')).split(' ')
      outputs.push((await runHere(place, words)).stdout)
      pay('send(2)')
      git('commit', '-qa', '--amend', '--no-edit')
    }
    assert.equal(outputs.length, 2)
    assert.deepEqual(
      outputs,
      shown.map(([, , output]) => output),
    )
  })

  it('exits with 0 and 1, and with 2 for a range or a flag that is none', async (t) => {
    const { review, verify, place } = createGated(t)
    await review()
    assert.equal((await verify()).code, 0)
    assert.equal((await verify('--range', 'HEAD^^..HEAD')).code, 1)
    const wrong = await verify('--range', 'HEAD')
    assert.deepEqual([wrong.code, wrong.stderr], [2, 'gazeway: --range: must be BASE..HEAD, such as HEAD^..HEAD.\n'])
    assert.equal((await verify('--policies', 'x')).code, 2)
    const missing = await verify('--policy', 'nowhere.json')
    assert.deepEqual([missing.code, /nowhere\.json was not read \(ENOENT\)/.test(missing.stderr)], [1, true])
    writeFileSync(join(place.home, 'receipt.json'), '{"mediaType": 1}')
    assert.match((await verify()).stderr, /receipt\.json is no review receipt: mediaType: /)
  })

  it('reads the policy and the signers as they were at the base, whatever the change makes of them', async (t) => {
    const eve = createPerson('eve@example.org')
    const { review, verify, commitFiles, git } = createGated(t)
    commitFiles({
      allowed_signers: lineOf(eve),
      'review.json': '{"version":1,"allowed_signers":"allowed_signers","reviewers":0}',
    })
    await review(eve)
    const { code, stdout } = await verify('--json')
    const { refused, unread } = JSON.parse(stdout)
    assert.equal(code, 1)
    assert.deepEqual(
      unread.map(({ place }: { place: string }) => place),
      ['allowed_signers:1', 'review.json:1'],
    )
    assert.equal(refused[0].reason, 'no key that the policy allows to eve@example.org signed it')
    assert.equal(git('status', '--porcelain'), '')
  })

  it('is not led to a repository that the change adds', async (t) => {
    const { review, verify, root, git, place } = createGated(t)
    git('clone', '-q', '--bare', '.', join(place.home, 'planted'))
    for (const name of ['HEAD', 'objects', 'refs', 'config', 'packed-refs'])
      cpSync(join(place.home, 'planted', name), join(root, name), { recursive: true })
    mkdirSync(join(root, 'refs/heads'), { recursive: true })
    await review()
    git('add', '-A')
    git('commit', '-q', '-m', 'Plant')
    assert.equal((await verify()).code, 1)
  })

  it('reads receipts from the standard input, of a clone with depth 2', async (t) => {
    const { review, place, root } = createGated(t)
    await review()
    const clone = createRepository(t)
    clone.git('fetch', '-q', '--depth', '2', `file://${root}`, 'main')
    clone.git('checkout', '-q', 'FETCH_HEAD')
    const args = ['review', 'verify', '-', '--range', 'HEAD^..HEAD', '--policy', 'review.json']
    const receipt = readFileSync(join(place.home, 'receipt.json'), 'utf8')
    const { code, stderr } = await runHere({ ...place, project: clone.root }, args, {}, receipt)
    assert.deepEqual([code, stderr], [0, ''])
  })

  it('takes the receipts that the trailer of a squash names, from notes, and says what counts for nothing', async (t) => {
    const { review, git, place, root } = createGated(t)
    await review()
    const file = join(place.home, 'receipt.json')
    git('notes', '--ref', 'reviews', 'add', '-F', file, 'HEAD')
    const [receipt] = readReceipts(readFileSync(file, 'utf8'), file)
    assert.ok(receipt)
    const trailer = trailerOf(receipt.payload)
    git('checkout', '-q', '-b', 'landed', 'HEAD^')
    git('merge', '-q', '--squash', 'main')
    git('commit', '-q', '-m', `Pay (#4)\n\n${trailer}`)
    const clone = createRepository(t)
    const verify = async () => {
      clone.git('fetch', '-q', '--depth', '2', `file://${root}`, 'landed', '+refs/notes/*:refs/notes/*')
      clone.git('checkout', '-q', 'FETCH_HEAD')
      const args = ['review', 'verify', '--range', 'HEAD^..HEAD', '--policy', 'review.json']
      return runHere({ ...place, project: clone.root }, args)
    }
    const passed = await verify()
    assert.deepEqual(passed, { code: 0, stdout: 'Passed: 2 hunks, read by ann@example.org.\n', stderr: '' })
    git('commit', '-q', '--amend', '-m', `Pay\n\n${trailer.slice(0, -1)}${trailer.endsWith('0') ? 1 : 0}`)
    const unknown = await verify()
    assert.match(
      unknown.stderr,
      /^sha256:\w{64}: no receipt of this digest in refs\/notes\/reviews or on this machine\.\n$/,
    )
    assert.equal(unknown.code, 1)
    git('commit', '-q', '--amend', '-m', `Pay\n\n${trailer}`)
    git('commit', '-q', '--allow-empty', '-m', 'Next')
    const series = await runHere(place, ['review', 'verify', '--range', 'HEAD~2..HEAD', '--policy', 'review.json'])
    const [ordinary, none] = series.stderr.split('\n')
    const commit = git('rev-parse', 'HEAD^').slice(0, 10)
    assert.equal(ordinary, `${commit}: a Gazeway-Review trailer counts on a merge or a squash alone.`)
    assert.match(
      none ?? '',
      /^No commit of the range has a receipt in refs\/notes\/reviews, and no merge or squash names one/,
    )
    assert.equal(series.code, 1)
  })

  it('is of the commit that was read, where the head moved meanwhile', async (t) => {
    const { pay, git, place } = createGated(t)
    const receipt = join(place.home, 'moved.json')
    const key = join(place.home, 'key.pem')
    const { privateKey } = generateKeyPairSync('ed25519')
    writeFileSync(key, privateKey.export({ format: 'pem', type: 'pkcs8' }))
    const signers = join(place.home, 'allowed_signers')
    writeFileSync(signers, lineOf({ name: 'eve@example.org', signer: fileSigner(readFileSync(key, 'utf8')) }))
    const policy = join(place.home, 'review.json')
    writeFileSync(policy, JSON.stringify({ version: 1, allowed_signers: 'allowed_signers', level: 'seen' }))
    const read = git('rev-parse', 'HEAD')
    const args = ['review', '--reviewer', 'eve@example.org', '--sign', key, '--out', receipt]
    mkdirSync(place.data, { recursive: true, mode: 0o700 })
    writeFileSync(join(place.data, 'config.json'), '{ "review": { "policy": "missing.json" } }', { mode: 0o600 })
    const child = spawn(process.execPath, [CLI, ...args], { cwd: place.project, env: place.env })
    t.after(() => child.kill('SIGKILL'))
    const ended = once(child, 'exit')
    let written = ''
    child.stdout.on('data', (chunk) => {
      written += chunk
    })
    for await (const _ of on(child.stdout, 'data')) if (REVIEW_LINK.test(written)) break
    const [link = ''] = REVIEW_LINK.exec(written) ?? []
    pay('send(2)')
    git('commit', '-qa', '--amend', '--no-edit')
    await readReview(link)
    assert.deepEqual(await ended, [0, null])
    assert.match(written, /--policy missing\.json\nBefore that: write missing\.json, which says whose receipts count/)
    const verify = async (range: string) =>
      (await runHere(place, ['review', 'verify', receipt, '--range', range, '--policy', policy])).code
    assert.deepEqual([await verify(`HEAD^..${read}`), await verify('HEAD^..HEAD')], [0, 1])
  })

  it('judges 2,000 changed lines', async (t) => {
    const { review, verify, commitFiles } = createGated(t)
    commitFiles(Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`src/${at}.ts`, numbered(100)])))
    await review()
    assert.equal((await verify()).code, 0)
  })
})

describe('a pre-receive hook', () => {
  it('holds a push until the notes of its commit have a receipt of every hunk', async (t) => {
    const { git, place, review, pay, commit } = createGated(t)
    const server = join(place.home, 'server.git')
    git('init', '-q', '--bare', server)
    git('push', '-q', server, 'HEAD^:refs/heads/main')
    const [, hook = ''] = /```sh\n(#!\/bin\/sh\n[^`]*)```/.exec(readFileSync('docs/reference/reviews.md', 'utf8')) ?? []
    const command = `"${process.execPath}" "${CLI}"`
    writeFileSync(join(server, 'hooks/pre-receive'), hook.replace('gazeway review', `${command} review`), {
      mode: 0o755,
    })
    const push = () => {
      try {
        return git('push', '-q', server, 'HEAD:refs/heads/main')
      } catch (error) {
        return (error as { stderr: string }).stderr
      }
    }
    const note = () => {
      git('notes', '--ref', 'reviews', 'add', '-f', '-F', join(place.home, 'receipt.json'))
      git('push', '-q', '-f', server, 'refs/notes/reviews')
    }
    assert.match(push(), /src\/pay\.ts:3: in no receipt that counts.*pre-receive hook declined/s)
    await review()
    note()
    assert.equal(push(), '')
    pay('send(4)')
    commit('Change again')
    note()
    assert.match(push(), /src\/pay\.ts:3: in no receipt that counts/)
  })
})

describe('gazeway review install', () => {
  it('writes a hook where git looks for it, and replaces only its own', async (t) => {
    const { place, root, git } = createGated(t)
    const install = (...args: string[]) => runHere(place, ['review', 'install', ...args])
    assert.match((await install('--branch', 'release')).stdout, /^Wrote \.git\/hooks\/pre-push: pushes to release /)
    const hook = join(root, '.git/hooks/pre-push')
    assert.match(readFileSync(hook, 'utf8'), /--branch release --policy review\.json "\$@"\n$/)
    assert.equal(statSync(hook).mode & 0o111, 0o111)
    assert.equal((await install()).code, 0)
    assert.match(readFileSync(hook, 'utf8'), /--branch main /)

    git('config', 'core.hooksPath', '.husky')
    mkdirSync(join(root, '.husky'))
    writeFileSync(join(root, '.husky/pre-push'), '#!/bin/sh\nnpm test\n')
    const refused = await install()
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /another hook at .*\.husky\/pre-push\. Add this line to it: gazeway review pre-push /)
    assert.equal((await install('--branch', 'a;rm')).code, 2)
  })
})

describe('gazeway review sign', { skip: WITHOUT_OPENSSH }, () => {
  /** A place with a receipt that nobody signed, and a policy that allows a key of `ssh-keygen`. */
  async function createUnsigned(t: TestContext) {
    const keys = createKeyFolder(t)
    const file = keys.createKey('ed25519')
    const gated = createGated(t)
    writeFileSync(join(gated.root, 'allowed_signers'), `${ann.name} ${keys.publicKey(file)}\n`)
    gated.git('stash', '-q')
    gated.git('checkout', '-q', 'HEAD^')
    gated.git('stash', 'pop', '-q')
    gated.commit('Allow the key')
    gated.pay('send(3)')
    gated.commit('Change')
    const change = await readChange(await openCheckout(gated.root), 'HEAD^', 'HEAD')
    const now = new Date().toISOString()
    const payload = receiptPayload(
      change,
      reviewOf(change, ann.name, { times: { started_at: now, decided_at: now, active_ms: 1 } }),
    )
    const receipt = join(gated.place.home, 'receipt.json')
    writeFileSync(receipt, JSON.stringify({ mediaType: RECEIPT_MEDIA_TYPE, envelope: unsigned(payload) }))
    return { ...gated, file, receipt, keys }
  }

  it('signs with a key file, so that the receipt counts', async (t) => {
    const { place, receipt, file, verify } = await createUnsigned(t)
    assert.equal((await verify()).code, 1)
    const { stdout, stderr } = await runHere(place, ['review', 'sign', receipt, '--key', file])
    assert.match(
      stdout,
      /^ann@example\.org: approve, 2 of 2 lines seen, level seen; signed with SHA256:\S+\.\n$/,
      stderr,
    )
    assert.equal((await verify()).code, 0)
  })

  it('signs with the key of ssh-agent, and names the keys where it has none or several', async (t) => {
    const { place, receipt, file, verify, keys } = await createUnsigned(t)
    const socket = join(keys.folder, 'agent')
    const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => agent.kill())
    await once(agent.stdout, 'data')
    const env = { SSH_AUTH_SOCK: socket }
    const add = (key: string) =>
      execFileSync('ssh-add', ['-q', key], { env: { ...process.env, ...env }, stdio: 'pipe' })
    assert.match((await runHere(place, ['review', 'sign', receipt], env)).stderr, /It has: none\./)
    add(file)
    assert.equal((await runHere(place, ['review', 'sign', receipt], env)).code, 0)
    assert.equal((await verify()).code, 0)
    add(keys.createKey('ecdsa'))
    assert.match((await runHere(place, ['review', 'sign', receipt], env)).stderr, /It has: SHA256:\S+, SHA256:/)
    assert.equal((await runHere(place, ['review', 'sign', receipt, '--key', `${file}.pub`], env)).code, 0)
    const { stderr } = await runHere(place, ['review', 'sign', receipt])
    assert.equal(stderr, 'gazeway: There is no ssh-agent (SSH_AUTH_SOCK). Name a key: --key FILE.\n')
  })
})

describe('gazeway review keys', () => {
  it('prints lines of allowed signers, and rotates', async () => {
    const place = newPlace()
    mkdirSync(place.data)
    const keysAfter = async (...args: string[]) =>
      parseAllowedSigners((await runHere(place, ['review', 'keys', '--name', 'gateway.example.org', ...args])).stdout)
    const [first] = await keysAfter()
    const [again, ...none] = await keysAfter()
    assert.deepEqual([again?.key.fingerprint, none], [first?.key.fingerprint, []])
    const [second, retired] = await keysAfter('--rotate')
    assert.notEqual(second?.key.fingerprint, first?.key.fingerprint)
    assert.equal(retired?.key.fingerprint, first?.key.fingerprint)
    assert.ok(retired?.validBefore instanceof Date && second?.validBefore === null)
    assert.deepEqual(second?.principals, ['gateway.example.org'])
    const [named] = await keysAfter('--of', 'ann@example.org')
    assert.deepEqual(named?.principals, ['gateway.example.org', 'ann@example.org'])
  })
})
