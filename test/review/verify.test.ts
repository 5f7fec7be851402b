import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { readChange } from '../../src/review/change.ts'
import type { Change } from '../../src/review/change-parts.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { hunksOf } from '../../src/review/hunks.ts'
import type { OpenedReceipt } from '../../src/review/receipt.ts'
import { observationPayload, signed } from '../../src/review/statement.ts'
import { judgeChange, type Verdict, verifyRange } from '../../src/review/verify.ts'
import { gatewaySigner, observerLine, rotateGatewayKey } from '../../src/signing/gateway-keys.ts'
import { createPerson, lineOf, NOW, policyOf, receiptOf, reviewOf } from './people.ts'
import { createRepository, numbered } from './repository.ts'

const ann = createPerson('ann@example.org')
const bob = createPerson('bob@example.org')
const gateway = createPerson('gateway')
const signers = [lineOf(ann), lineOf(bob), lineOf(gateway, 'namespaces="gazeway-observer"')]

/** A repository in which a topic branch changed two places of one file, and one of another. */
function createTopic(t: TestContext) {
  const repository = createRepository(t)
  repository.commitFiles({ 'a.txt': numbered(60), 'b.txt': numbered(60) })
  repository.git('checkout', '-q', '-b', 'topic')
  repository.commitFiles({ 'a.txt': numbered(60).replace('line 10\n', 'ten\n').replace('line 50\n', 'fifty\n') })
  repository.commitFiles({ 'b.txt': numbered(60).replace('line 30\n', '') })
  return repository
}

/** A repository whose last commit merges two, of which Bob wrote the first one. */
function createRepositoryWithMerge(t: TestContext) {
  const repository = createRepository(t)
  const { git, commitFiles, write, commit } = repository
  commitFiles({ 'a.txt': numbered(20) })
  git('checkout', '-q', '-b', 'topic')
  write('a.txt', numbered(21))
  commit('Add', '--author', 'Bob <bob@example.org>')
  commitFiles({ 'b.txt': 'b\n' })
  git('checkout', '-q', 'main')
  git('merge', '-q', '--no-ff', '-m', 'Merge', 'topic')
  return repository
}

const changeIn = async (root: string, base: string, head: string): Promise<Change> =>
  readChange(await openCheckout(root), base, head)

/** Judges a range, by default with the policy that needs one reviewer at level `seen`. */
async function judge(
  root: string,
  range: [base: string, head: string],
  receipts: OpenedReceipt[],
  policy = policyOf(signers),
): Promise<Verdict> {
  const [base, head] = range
  return verifyRange(await openCheckout(root), { base, head }, receipts, await policy, NOW)
}

const placesIn = ({ unread }: Verdict): string[] => unread.map(({ place }) => place)

describe('what lands, judged by receipts', () => {
  it('passes as a merge, a squash, a rebase and by a merge queue, and fails for what was added on the way', async (t) => {
    const { root, git, commitFiles, commit } = createTopic(t)
    const receipts = [await receiptOf(await changeIn(root, 'main', 'topic'), ann)]
    git('checkout', '-q', 'main')
    const base = commitFiles({ 'a.txt': `above\n${numbered(60)}`, 'c.txt': 'other\n' })
    git('merge', '-q', '--no-ff', '-m', 'Merge', 'topic')
    assert.equal((await judge(root, ['HEAD^1', 'HEAD'], receipts)).passed, true, 'merge')
    git('reset', '-q', '--hard', base)
    git('merge', '-q', '--squash', 'topic')
    commit('Squash')
    assert.equal((await judge(root, ['HEAD^', 'HEAD'], receipts)).passed, true, 'squash')
    git('reset', '-q', '--hard', base)
    git('cherry-pick', 'topic^', 'topic')
    assert.equal((await judge(root, [base, 'HEAD'], receipts)).passed, true, 'rebase')
    commitFiles({ 'b.txt': numbered(60).replace('line 30\n', 'changed afterwards\n') })
    const failed = await judge(root, [base, 'HEAD'], receipts)
    assert.deepEqual([failed.passed, placesIn(failed)], [false, ['b.txt:30']])
  })

  it('is judged in a moment, however often it repeats one hunk', async () => {
    const [hunk] = hunksOf('a.txt', '', 'line\n')
    assert.ok(hunk)
    const side = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) }
    const change = { base: side, head: side, digest: 'c'.repeat(64), parts: Array<typeof hunk>(20_000).fill(hunk) }
    const receipts = [await receiptOf(change, ann)]
    const started = performance.now()
    const { passed, unread } = judgeChange(change, new Set(), receipts, await policyOf(signers), NOW)
    assert.deepEqual([passed, unread.length], [true, 0])
    const more = { ...change, parts: [...change.parts, hunk] }
    assert.equal(judgeChange(more, new Set(), receipts, await policyOf(signers), NOW).unread.length, 1)
    const took = performance.now() - started
    assert.ok(took < 3000, `${took} ms`)
  })

  it('names unread lines, removed ones, and items', async (t) => {
    const { root, git, write, commit } = createTopic(t)
    write('image.png', Buffer.from([0, 1]))
    write('run.sh', 'echo\n')
    chmodSync(join(root, 'run.sh'), 0o755)
    commit()
    const verdict = await judge(root, ['main', 'topic'], [])
    assert.deepEqual(placesIn(verdict), [
      'a.txt:10',
      'a.txt:50',
      'b.txt:30 (removed)',
      'image.png (binary)',
      'run.sh (mode)',
      'run.sh:1',
    ])
    assert.equal(git('status', '--porcelain'), '')
  })

  it('does not take a hunk of which a receipt saw too little for read', async (t) => {
    const { root } = createTopic(t)
    const change = await changeIn(root, 'main', 'topic')
    const { coverage } = reviewOf(change, ann.name)
    const hunks = coverage.hunks.map((hunk, index) => (index === 1 ? { ...hunk, seen: 1 } : hunk))
    const receipts = [await receiptOf(change, ann, { review: { coverage: { ...coverage, hunks } } })]
    const strict = await judge(root, ['main', 'topic'], receipts, policyOf(signers, { coverage: 0.6 }))
    assert.deepEqual(placesIn(strict), ['a.txt:50'])
    assert.equal((await judge(root, ['main', 'topic'], receipts, policyOf(signers, { coverage: 0.5 }))).passed, true)
  })

  it('does not take one hunk that was read for two that land', async (t) => {
    const { root, commitFiles } = createRepository(t)
    const block = `${numbered(8)}X\n`
    commitFiles({ 'a.txt': block.repeat(3) })
    commitFiles({ 'a.txt': block.replace('X', 'Y') + block.repeat(2) })
    const receipts = [await receiptOf(await changeIn(root, 'HEAD^', 'HEAD'), ann)]
    const both = [...receipts, await receiptOf(await changeIn(root, 'HEAD^', 'HEAD'), ann)]
    commitFiles({ 'a.txt': block.replace('X', 'Y').repeat(2) + block })
    assert.deepEqual(placesIn(await judge(root, ['HEAD~2', 'HEAD'], both)), ['a.txt:18'])
  })

  it('does not take a receipt of a deleted file for an emptied one, nor the other way round', async (t) => {
    const { root, commitFiles, commit, write, git } = createRepository(t)
    commitFiles({ 'guard.ts': 'deny()\n' })
    git('rm', '-q', 'guard.ts')
    commit()
    git('branch', 'gone')
    git('reset', '-q', '--hard', 'HEAD^')
    write('guard.ts', '')
    commit()
    git('branch', 'emptied')
    const judged = async (read: string, lands: string) => {
      const receipts = [await receiptOf(await changeIn(root, `${read}^`, read), ann)]
      return placesIn(await judge(root, [`${lands}^`, lands], receipts))
    }
    assert.deepEqual(await judged('gone', 'emptied'), ['guard.ts (empty)'])
    assert.deepEqual(await judged('emptied', 'gone'), ['guard.ts (deleted)'])
    assert.deepEqual(await judged('gone', 'gone'), [])
  })

  it('needs as many people as the policy says, and takes one with two names or two receipts for one', async (t) => {
    const { root } = createTopic(t)
    const change = await changeIn(root, 'main', 'topic')
    const policy = policyOf([...signers, lineOf(ann, '', 'ann@home.example.org')], { reviewers: 2 })
    const twice = [await receiptOf(change, ann), await receiptOf(change, { ...ann, name: 'ann@home.example.org' })]
    const alone = await judge(root, ['main', 'topic'], twice, policy)
    assert.deepEqual([alone.passed, alone.unread[0]?.reason], [false, 'read by 1 of 2 reviewers'])
    const two = [await receiptOf(change, ann), await receiptOf(change, bob)]
    assert.equal((await judge(root, ['main', 'topic'], two, policy)).passed, true)
  })

  it('does not take an author or co-author for a reviewer, under no name of their key', async (t) => {
    const { root, git } = createTopic(t)
    git('commit', '-q', '--amend', '-m', 'Change\n\nCo-authored-by: Bob <BOB@example.org>')
    const change = await changeIn(root, 'main', 'topic')
    const ada = createPerson('reviews@example.org')
    const policy = policyOf([...signers, lineOf(ada, '', 'reviews@example.org,ada@example.org')])
    const receipts = [await receiptOf(change, bob), await receiptOf(change, ada)]
    const verdict = await judge(root, ['main', 'topic'], receipts, policy)
    assert.equal(verdict.passed, false)
    assert.deepEqual(
      verdict.refused.map(({ reviewer, reason }) => `${reviewer}: ${reason}`),
      ['bob@example.org: they are an author of the range', 'reviews@example.org: they are an author of the range'],
    )
    const lenient = policyOf(signers, { not_author: false })
    assert.equal((await judge(root, ['main', 'topic'], receipts, lenient)).passed, true)
  })

  it('takes the names and keys of lines that share one for one person, and not those of a pattern or a gateway', async (t) => {
    const { root, git } = createTopic(t)
    git('commit', '-q', '--amend', '-m', 'Change', '--author', 'Ann <ann@work.example.org>')
    const change = await changeIn(root, 'main', 'topic')
    const second = createPerson('ann-phone@example.org')
    const receipts = [await receiptOf(change, ann), await receiptOf(change, second), await receiptOf(change, bob)]
    const linked = lineOf(second, '', 'ann@example.org,Ann@Work.example.org,ann-phone@example.org')
    const ofAnn = [lineOf(ann), linked, lineOf(bob)]
    const judged = (lines: string[], more: object, of = receipts) =>
      judge(root, ['main', 'topic'], of, policyOf(lines, more))
    const { refused } = await judged(ofAnn, { reviewers: 1 })
    const reason = 'they are an author of the range'
    assert.deepEqual(refused, [{ reviewer: 'ann@example.org, ann-phone@example.org', reason }])
    assert.equal((await judged(ofAnn, { reviewers: 1 }, receipts.slice(0, 1))).passed, false)
    const two = { reviewers: 2, not_author: false }
    assert.equal((await judged(ofAnn, two, receipts.slice(0, 2))).passed, false)
    assert.equal((await judged(ofAnn, two)).passed, true)
    const shared = [lineOf(ann), lineOf(bob), lineOf(second, '', '*@example.org')]
    const ofBoth = lineOf(gateway, 'namespaces="gazeway-observer"', 'gateway,ann@example.org,bob@example.org')
    assert.equal((await judged([...shared, ofBoth], two, [receipts[0], receipts[2]] as OpenedReceipt[])).passed, true)
  })

  it('takes the line of a key that signs commits for a line of its person', async (t) => {
    const { root, git } = createTopic(t)
    git('commit', '-q', '--amend', '-m', 'Change', '--author', 'Ann <ann@work.example.org>')
    const receipts = [await receiptOf(await changeIn(root, 'main', 'topic'), ann)]
    const atWork = lineOf(ann, 'namespaces="git"', 'ann@work.example.org')
    const { passed, refused } = await judge(root, ['main', 'topic'], receipts, policyOf([atWork, lineOf(ann)]))
    assert.deepEqual([passed, refused], [false, [{ reviewer: ann.name, reason: 'they are an author of the range' }]])
  })

  it('finds a co-author in each form of the trailer', async (t) => {
    const { root, git } = createTopic(t)
    const forms = ['co-Authored-By : Bob <bob@example.org>', 'Co-authored-by: Bob\n <bob@example.org>']
    for (const form of [...forms, 'Co-authored-by: Bob <bob@example.org> (pair)']) {
      git('commit', '-q', '--amend', '-m', `Change\n\n${form}`)
      const receipts = [await receiptOf(await changeIn(root, 'main', 'topic'), bob)]
      assert.equal((await judge(root, ['main', 'topic'], receipts)).passed, false, form)
    }
  })

  it('needs all commits of the range to know its authors, and without not_author a merge of depth 2', async (t) => {
    const { root, git } = createRepositoryWithMerge(t)
    const receipts = [await receiptOf(await changeIn(root, 'HEAD^', 'HEAD'), bob)]
    const shallow = createRepository(t)
    shallow.git('pull', '-q', '--depth', '2', `file://${root}`, 'main')
    const judged = (place: string, more = {}) => judge(place, ['HEAD^', 'HEAD'], receipts, policyOf(signers, more))
    assert.equal((await judged(root)).refused[0]?.reason, 'they are an author of the range')
    const message = new RegExp(`before ${git('rev-parse', 'HEAD^2')} were not fetched`)
    await assert.rejects(judged(shallow.root), { code: 'not_found', message })
    assert.equal((await judged(shallow.root, { not_author: false })).passed, true)
    assert.equal((await judged(shallow.root, { reviewers: 0 })).passed, true)
    shallow.git('fetch', '-q', '--unshallow', `file://${root}`)
    assert.equal((await judged(shallow.root)).refused[0]?.reason, 'they are an author of the range')
  })

  it('knows the authors of a range with the first commit of another history', async (t) => {
    const { root, git, commitFiles } = createRepository(t)
    const base = commitFiles({ 'a.txt': 'a\n' })
    git('checkout', '-q', '--orphan', 'other')
    commitFiles({ 'b.txt': 'b\n' })
    git('checkout', '-q', 'main')
    git('merge', '-q', '--allow-unrelated-histories', '-m', 'Merge', 'other')
    const receipts = [await receiptOf(await changeIn(root, base, 'HEAD'), ann)]
    assert.equal((await judge(root, [base, 'HEAD'], receipts)).passed, true)
  })

  it('lets the last decision of a person stand', async (t) => {
    const { root } = createTopic(t)
    const change = await changeIn(root, 'main', 'topic')
    const at = (decided_at: string) => ({ started_at: decided_at, decided_at, active_ms: 1 })
    const approval = await receiptOf(change, ann)
    const later = { times: at('2026-11-26T17:45:00.000Z'), decision: 'request_changes' as const }
    const refusal = await receiptOf(change, ann, { review: later })
    assert.equal((await judge(root, ['main', 'topic'], [refusal, approval])).passed, false)
    const comment = await receiptOf(change, ann, { review: { ...later, decision: 'comment' } })
    assert.equal((await judge(root, ['main', 'topic'], [comment, approval])).passed, true)
    assert.equal((await judge(root, ['main', 'topic'], [comment])).passed, false)
  })

  it('refuses a rule that could match nothing, or demands what nobody knows', async () => {
    const refused = { code: 'validation_failed' }
    const ruled = (rule: object) => policyOf(signers, { rules: [rule] })
    for (const glob of ['', '/src/*', './src/*', '../src/*', '!docs/*', 'src/', 'src/**/pay.ts', 'src/**'])
      await assert.rejects(ruled({ paths: ['a', glob], reviewers: 2 }), refused, glob)
    await assert.rejects(ruled({ paths: ['src/*'], reviewer: 2 }), refused)
    for (const glob of ['*', 'src/*', '.github/*', '..a', 'app/[id]/{a}?.ts', 'a\\u{a}b', '*!'])
      assert.equal((await ruled({ paths: [glob] })).rules.length, 1, glob)
  })

  it('demands of each path what the last rule for it says, of a moved file what both paths demand', async (t) => {
    const { root, write, commit } = createRepository(t)
    write('pay/key.txt', numbered(20))
    write('docs/a.md', 'one\n')
    commit()
    write('docs/a.md', 'two\n')
    write('free/package-lock.json', '{}\n')
    renameSync(join(root, 'pay/key.txt'), join(root, 'docs/key.txt'))
    commit()
    const rules = [
      { paths: ['*'], reviewers: 1 },
      { paths: ['pay/*'], reviewers: 2 },
      { paths: ['*package-lock.json'], reviewers: 0 },
    ]
    const receipts = [await receiptOf(await changeIn(root, 'HEAD^', 'HEAD'), ann)]
    const verdict = await judge(root, ['HEAD^', 'HEAD'], receipts, policyOf(signers, { rules }))
    assert.deepEqual(verdict.unread, [{ place: 'docs/key.txt (moved)', reason: 'read by 1 of 2 reviewers' }])
    assert.deepEqual(placesIn(await judge(root, ['HEAD^', 'HEAD'], [], policyOf(signers, { rules }))), [
      'docs/a.md:1',
      'docs/key.txt (moved)',
    ])
  })

  it('does not take a receipt over another repository for one of this', async (t) => {
    const { root } = createTopic(t)
    const change = await changeIn(root, 'main', 'topic')
    const elsewhere = await receiptOf(change, ann, { review: { repository: 'example.org/other' } })
    const here = await receiptOf(change, ann, { review: { repository: 'example.org/shop' } })
    const policy = policyOf(signers, { repository: 'example.org/shop' })
    assert.equal((await judge(root, ['main', 'topic'], [elsewhere], policy)).passed, false)
    assert.equal((await judge(root, ['main', 'topic'], [here], policy)).passed, true)
    const other = createTopic(t)
    other.commitFiles({ 'a.txt': numbered(60).replace('line 50\n', 'other text\n') })
    const foreign = await receiptOf(await changeIn(other.root, 'main', 'topic'), ann)
    assert.deepEqual(placesIn(await judge(root, ['main', 'topic'], [foreign])), ['a.txt:10', 'a.txt:50'])
  })
})

describe('the level of a receipt', () => {
  it('is seen at most without a trusted observer, or with the reviewer as the observer', async (t) => {
    const { root } = createTopic(t)
    const change = await changeIn(root, 'main', 'topic')
    const trusting = { level: 'plausible', observers: ['gateway', 'ann@example.org'] }
    const policy = policyOf([...signers, lineOf(ann, 'namespaces="gazeway-observer"')], trusting)
    const review = { level: 'present' as const }
    const passes = async (receipt: OpenedReceipt) => (await judge(root, ['main', 'topic'], [receipt], policy)).passed
    assert.equal(await passes(await receiptOf(change, ann, { review })), false, 'unobserved')
    assert.equal(await passes(await receiptOf(change, ann, { review, observer: ann })), false, 'own machine')
    assert.equal(await passes(await receiptOf(change, ann, { review, observer: bob })), false, 'unknown observer')
    assert.equal(await passes(await receiptOf(change, ann, { observer: gateway, level: 'seen' })), false, 'only seen')
    assert.equal(await passes(await receiptOf(change, ann, { observer: gateway })), true)
  })

  it('is seen at most with an observer on the reviewer’s machine, whose line names the reviewer as well', async (t) => {
    const { root } = createTopic(t)
    const change = await changeIn(root, 'main', 'topic')
    const receipt = await receiptOf(change, ann, { observer: gateway })
    const passes = async (...lines: string[]) => {
      const policy = policyOf([lineOf(ann), ...lines], { level: 'plausible', observers: ['gateway'] })
      return (await judge(root, ['main', 'topic'], [receipt], policy)).passed
    }
    const observer = 'namespaces="gazeway-observer"'
    assert.equal(await passes(lineOf(gateway, observer)), true)
    assert.equal(await passes(lineOf(gateway, observer, 'gateway,bob@example.org')), true)
    assert.equal(await passes(lineOf(gateway, observer, 'gateway,ANN@example.org')), false)
    const named = lineOf(gateway, 'namespaces="none"', 'ann@example.org')
    assert.equal(await passes(lineOf(gateway, observer), named), false, 'by another line of the key')
    const phone = lineOf(createPerson('ann-phone@example.org'), '', 'ann-phone@example.org,ann@example.org')
    const ofPhone = lineOf(gateway, observer, 'gateway,ann-phone@example.org')
    assert.equal(await passes(ofPhone), true)
    assert.equal(await passes(ofPhone, phone), false, 'by another name of the reviewer')
  })

  it('is kept after the key of its observer was rotated, and is not that of what the old key signs later', async (t) => {
    const { root } = createTopic(t)
    const dataDir = mkdtempSync(join(tmpdir(), 'gazeway-keys-'))
    t.after(() => rmSync(dataDir, { recursive: true }))
    const change = await changeIn(root, 'main', 'topic')
    const at = (time: string) => new Date(`2026-11-26T${time}Z`)
    const old = await gatewaySigner(dataDir, at('17:00:00.900'))
    const keys = await rotateGatewayKey(dataDir, at('17:30:00.500'))
    const receipt = await receiptOf(change, ann)
    const levelAt = async (time: string, signer = old) => {
      const seen = { review_id: 'rev', level: 'plausible' as const, observed_at: at(time).toISOString() }
      const observer = await signed(observationPayload(receipt.payload, seen), signer)
      const lines = [lineOf(ann), ...keys.map((key) => observerLine('gateway', key))]
      const policy = policyOf(lines, { level: 'plausible', observers: ['gateway'] })
      return (await judge(root, ['main', 'topic'], [{ ...receipt, observer }], policy)).passed
    }
    assert.equal(await levelAt('17:10:00.000'), true)
    assert.equal(await levelAt('17:30:00.400'), true, 'in the second of the rotation')
    assert.equal(await levelAt('17:30:01.000'), false)
    assert.equal(await levelAt('16:59:59.000'), false)
    const next = await gatewaySigner(dataDir, NOW)
    assert.deepEqual([await levelAt('17:40:00.000', next), await levelAt('17:10:00.000', next)], [true, false])
  })

  it('is not that of a countersignature over another receipt', async (t) => {
    const { root } = createTopic(t)
    const change = await changeIn(root, 'main', 'topic')
    const policy = policyOf(signers, { level: 'plausible', observers: ['gateway'] })
    const { observer } = await receiptOf(change, bob, { observer: gateway })
    const borrowed = { ...(await receiptOf(change, ann)), observer }
    assert.equal((await judge(root, ['main', 'topic'], [borrowed as OpenedReceipt], policy)).passed, false)
  })
})

describe('a signature', () => {
  it('of an unknown, expired, not yet valid, revoked or misplaced key does not count', async (t) => {
    const { root } = createTopic(t)
    const receipt = await receiptOf(await changeIn(root, 'main', 'topic'), ann)
    const reasonWith = async (lines: string[], revoked = '') => {
      const { passed, refused } = await judge(root, ['main', 'topic'], [receipt], policyOf(lines, {}, revoked))
      return passed ? 'passed' : refused[0]?.reason.replace(/ \(SHA256.*/, '')
    }
    assert.equal(await reasonWith([lineOf(ann)]), 'passed')
    assert.equal(await reasonWith([lineOf(ann, '')]), 'passed', 'without namespaces')
    assert.equal(await reasonWith([lineOf(ann, 'valid-after="20261126Z",valid-before="20261127Z"')]), 'passed')
    assert.equal(await reasonWith([lineOf(ann, '', '*@example.org')]), 'passed')
    const unknown = 'no key that the policy allows to ann@example.org signed it'
    assert.equal(await reasonWith([lineOf(bob)]), unknown)
    assert.equal(await reasonWith([lineOf(bob, '', ann.name)]), unknown)
    assert.equal(await reasonWith([lineOf(ann, '', 'eve@example.org')]), unknown)
    assert.equal(await reasonWith([lineOf(ann, '', '*@example.org,!ann@example.org')]), unknown)
    assert.equal(await reasonWith([lineOf(ann, 'cert-authority')]), unknown)
    assert.equal(await reasonWith([lineOf(ann, 'namespaces="git"')]), 'the key is not for gazeway-review')
    const expired = 'the key expired at 2026-11-26T00:00:00.000Z'
    assert.equal(await reasonWith([lineOf(ann, 'valid-before="20261126Z"')]), expired)
    const early = 'the key is valid from 2026-11-26T17:31:00.000Z'
    assert.equal(await reasonWith([lineOf(ann, 'valid-after="202611261731Z"')]), early)
    assert.equal(await reasonWith([lineOf(ann)], lineOf(ann, '', '').trim()), 'the key is revoked')
  })

  it('of a key that has expired since counts only where a trusted observer says that it was made before', async (t) => {
    const { root } = createTopic(t)
    const change = await changeIn(root, 'main', 'topic')
    // Decided and observed at 17:30, and judged at 18:00.
    const [alone, observed] = [await receiptOf(change, ann), await receiptOf(change, ann, { observer: gateway })]
    const reasonOf = async (receipt: OpenedReceipt, end: string, observers = ['gateway']) => {
      const line = lineOf(ann, `namespaces="gazeway-review",valid-before="${end}"`)
      const policy = policyOf([line, lineOf(gateway, 'namespaces="gazeway-observer"')], { observers })
      const { passed, refused } = await judge(root, ['main', 'topic'], [receipt], policy)
      return passed ? 'passed' : refused[0]?.reason.replace(/ \(SHA256.*/, '')
    }
    const expired = 'the key expired at 2026-11-26T17:45:00.000Z'
    assert.equal(await reasonOf(alone, '202611261745Z'), expired, 'whoever has the key now can date a receipt back')
    assert.equal(await reasonOf(observed, '202611261745Z'), 'passed')
    assert.equal(await reasonOf(observed, '202611261745Z', []), expired, 'an observer that the policy does not trust')
    assert.equal(await reasonOf(observed, '202611261715Z'), 'the key expired at 2026-11-26T17:15:00.000Z')
    assert.equal(await reasonOf(alone, '202611261815Z'), 'passed')
  })

  it('does not count once its receipt is too old, or is dated in the future', async (t) => {
    const { root } = createTopic(t)
    const change = await changeIn(root, 'main', 'topic')
    const at = (decided_at: string) => ({ review: { times: { started_at: decided_at, decided_at, active_ms: 1 } } })
    const policy = policyOf(signers, { max_age_days: 7 })
    const reasonOf = async (time: string) =>
      (await judge(root, ['main', 'topic'], [await receiptOf(change, ann, at(time))], policy)).refused[0]?.reason
    assert.equal(await reasonOf('2026-11-19T17:59:00.000Z'), 'it is older than 7 days')
    assert.equal(await reasonOf('2026-11-26T18:02:00.000Z'), 'it is dated in the future')
    assert.equal(await reasonOf('2026-11-20T18:00:00.000Z'), undefined)
  })
})

it('judges 30,000 hunks without comparing each with all', async () => {
  const parts = hunksOf('a.txt', numbered(300_000), numbered(300_000).replace(/line (\d*0)\n/g, 'changed $1\n'))
  const side = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) }
  const change = { base: side, head: side, digest: 'c'.repeat(64), parts }
  const receipts = [await receiptOf(change, ann), await receiptOf(change, bob)]
  const started = process.cpuUsage()
  const verdict = judgeChange(change, new Set(), receipts, await policyOf(signers, { reviewers: 2 }), NOW)
  assert.deepEqual([verdict.passed, verdict.parts], [true, 30_000])
  const { user, system } = process.cpuUsage(started)
  assert.ok(user + system < 15_000_000, `${(user + system) / 1000} ms`)
})
