import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { readChange } from '../../src/review/change.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { RECEIPT_MEDIA_TYPE } from '../../src/review/receipt.ts'
import { findReceipts, missingAmong, receiptsNamedIn, trailerOf } from '../../src/review/trailers.ts'
import { verifyRange } from '../../src/review/verify.ts'
import { createPerson, lineOf, NOW, policyOf, receiptOf } from './people.ts'
import { createRepository, numbered } from './repository.ts'

const ann = createPerson('ann@example.org')
const bob = createPerson('bob@example.org')

/** A topic branch of two commits whose receipt is a note on its head, and a main branch that went on. */
async function createReviewed(t: TestContext) {
  const repository = createRepository(t)
  const { root, git, commitFiles } = repository
  commitFiles({ 'a.txt': numbered(60) })
  git('checkout', '-q', '-b', 'topic')
  commitFiles({ 'a.txt': numbered(60).replace('line 10\n', 'ten\n') })
  commitFiles({ 'a.txt': numbered(60).replace('line 10\n', 'ten\n').replace('line 50\n', 'fifty\n') })
  const checkout = await openCheckout(root)
  const { payload, envelope } = await receiptOf(await readChange(checkout, 'main', 'topic'), ann)
  const note = JSON.stringify({ mediaType: RECEIPT_MEDIA_TYPE, envelope })
  const other = (await receiptOf(await readChange(checkout, 'main', 'topic'), bob)).envelope
  git('notes', '--ref', 'reviews', 'add', '-m', note, 'topic')
  git('checkout', '-q', 'main')
  const base = commitFiles({ 'b.txt': 'other\n' })

  /** Judges a range by the receipts that its trailers name. */
  async function judge(from: string, to = 'HEAD') {
    const { digests, ordinary } = await receiptsNamedIn(checkout, from, to)
    const { receipts } = await findReceipts(checkout, { commits: new Set(), digests }, [])
    const missing = missingAmong(digests, receipts)
    const { passed } = await verifyRange(
      checkout,
      { base: from, head: to },
      receipts,
      await policyOf([lineOf(ann), lineOf(bob)]),
      NOW,
    )
    return { passed, ordinary, missing }
  }
  return { ...repository, base, judge, trailer: trailerOf(payload), note, other }
}

it('A trailer leads from a merge or a squash to a receipt among the notes, after the reviewed branch is gone', async (t) => {
  const { git, commit, base, judge, trailer } = await createReviewed(t)
  git('merge', '-q', '--no-ff', '-m', `Merge topic\n\n${trailer}`, 'topic')
  assert.deepEqual(await judge('HEAD^1'), { passed: true, ordinary: [], missing: [] })
  git('reset', '-q', '--hard', base)
  git('merge', '-q', '--squash', 'topic')
  commit(
    `Squash topic (#4)\n\n${trailer.replace('Gazeway-Review', 'gazeway-review')}\nCo-authored-by: Bob <b@example.org>`,
  )
  git('branch', '-q', '-D', 'topic')
  git('reflog', 'expire', '--expire=now', '--all')
  git('gc', '-q', '--prune=now')
  assert.deepEqual(await judge('HEAD^'), { passed: true, ordinary: [], missing: [] })
  git('commit', '-q', '--amend', '-m', 'Squash without a trailer')
  assert.deepEqual(await judge('HEAD^'), { passed: false, ordinary: [], missing: [] })
})

it('A trailer on an ordinary commit counts for nothing, and is named', async (t) => {
  const { git, base, judge, trailer } = await createReviewed(t)
  git('cherry-pick', 'topic^', 'topic')
  git('commit', '-q', '--amend', '-m', `Change\n\n${trailer}`)
  assert.deepEqual(await judge(base), { passed: false, ordinary: [git('rev-parse', 'HEAD')], missing: [] })
})

it('A trailer that names no receipt, or stands within a line, finds none, and foreign notes keep nobody from theirs', async (t) => {
  const { git, judge, trailer, note } = await createReviewed(t)
  git('notes', '--ref', 'reviews', 'add', '-m', '{"envelope":{"payload":"e30="}}\n{"payload":1}\nnot JSON', 'main')
  const unknown = '0'.repeat(64)
  git('merge', '-q', '--no-ff', '-m', `Merge\n\nGazeway-Review: sha256:${unknown}\nSee ${trailer}`, 'topic')
  assert.deepEqual(await judge('HEAD^1'), { passed: false, ordinary: [], missing: [unknown] })
  git('commit', '-q', '--amend', '-m', `Merge\n\n${trailer}`)
  assert.equal((await judge('HEAD^1')).passed, true)
  git('notes', '--ref', 'reviews', 'remove', 'topic')
  const [, digest] = trailer.split('sha256:')
  assert.deepEqual(await judge('HEAD^1'), { passed: false, ordinary: [], missing: [digest] })
  git('notes', '--ref', 'reviews', 'append', '-m', `prose\n${note}\n${note}`, 'main')
  assert.equal((await judge('HEAD^1')).passed, true)
})

it('A note that shows one statement and carries another counts for the one that it carries', async (t) => {
  const { git, judge, trailer, note, other } = await createReviewed(t)
  git('merge', '-q', '--no-ff', '-m', `Merge\n\n${trailer}`, 'topic')
  git('notes', '--ref', 'reviews', 'remove', 'topic')
  const { envelope } = JSON.parse(note)
  git('notes', '--ref', 'reviews', 'add', '-m', JSON.stringify({ ...other, envelope }), 'main')
  const [, digest] = trailer.split('sha256:')
  assert.deepEqual(await judge('HEAD^1'), { passed: false, ordinary: [], missing: [digest] })
})

it('A note with the statement of a receipt that is none keeps nobody from the receipt', async (t) => {
  const { git, judge, trailer, note } = await createReviewed(t)
  git('merge', '-q', '--no-ff', '-m', `Merge\n\n${trailer}`, 'topic')
  const { envelope } = JSON.parse(note)
  const { payload } = envelope
  for (const foreign of [{ envelope: { payload } }, { payload }, { payload, payloadType: 'other', signatures: 1 }])
    git('notes', '--ref', 'reviews', 'append', '-m', JSON.stringify(foreign), 'main')
  assert.deepEqual(await judge('HEAD^1'), { passed: true, ordinary: [], missing: [] })
})

it('A note with very many lines that are no receipts has one fault, and keeps nobody from the receipt', async (t) => {
  const { root, git, note } = await createReviewed(t)
  const file = join(root, 'note.txt')
  writeFileSync(file, `${'x\n'.repeat(200_000)}${note}\n{}\n`)
  git('notes', '--ref', 'reviews', 'add', '-f', '-F', file, 'topic')
  const commits = new Set([git('rev-parse', 'topic')])
  const { receipts, faults } = await findReceipts(await openCheckout(root), { commits, digests: new Set() }, [])
  assert.deepEqual([receipts.length, faults.length], [1, 1])
  assert.match(faults[0] ?? '', /:1 is no review receipt: .* begins with: x 200000 more of its lines are none\.$/)
})
