import assert from 'node:assert/strict'
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openCheckout } from '../../src/review/checkout.ts'
import { openPolicy, requireReadablePolicy } from '../../src/review/policy-source.ts'
import { createRepository } from './repository.ts'

const policy = (reviewers: number) =>
  JSON.stringify({ version: 1, allowed_signers: 'signers', level: 'seen', reviewers })
const SIGNERS = 'ann@example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0rk1Fzq9QvPcTq6rQ1Kkq0v1Cw8kQ3w2gP0aTQYJ8b\n'

describe('the policy of a range', () => {
  it('is that of the base where the change makes its folder a link to another one', async (t) => {
    const { root, commitFiles, commit } = createRepository(t)
    const base = commitFiles({ 'ci/review.json': policy(1), 'ci/signers': SIGNERS })
    rmSync(join(root, 'ci'), { recursive: true })
    commitFiles({ 'evil/review.json': policy(0), 'evil/signers': SIGNERS })
    symlinkSync('evil', join(root, 'ci'))
    commit()
    const { reviewers } = await openPolicy(await openCheckout(root), base, join(root, 'ci/review.json'))
    assert.equal(reviewers, 1)
  })

  it('is refused behind a link of the base, and behind one elsewhere that leads into the repository', async (t) => {
    const { root, commitFiles } = createRepository(t)
    symlinkSync('policies', join(root, 'ci'))
    const base = commitFiles({ 'policies/review.json': policy(1), 'policies/signers': SIGNERS })
    rmSync(join(root, 'policies'), { recursive: true })
    commitFiles({ 'policies/more/review.json': policy(0), 'policies/more/signers': SIGNERS })
    const elsewhere = createRepository(t).root
    symlinkSync(join(root, 'policies/more'), join(elsewhere, 'link'))
    const checkout = await openCheckout(root)
    for (const path of [join(root, 'ci/review.json'), join(elsewhere, 'link/review.json')])
      await assert.rejects(openPolicy(checkout, base, path), {
        code: 'validation_failed',
        message: /a link leads to it/,
      })
  })

  it('may be changed and removed by the range, and not be broken by it', async (t) => {
    const { root, commitFiles } = createRepository(t)
    commitFiles({ 'review.json': policy(1), signers: SIGNERS })
    const checkout = await openCheckout(root)
    const file = join(root, 'review.json')
    await requireReadablePolicy(checkout, commitFiles({ 'review.json': policy(2) }), file)
    const broken = [
      { 'review.json': '{ "version": 1, "levle": "seen" }' },
      { 'review.json': policy(1).replace('signers"', 'missing"') },
    ]
    for (const files of broken)
      await assert.rejects(requireReadablePolicy(checkout, commitFiles(files), file), {
        code: 'validation_failed',
        message: /breaks the review policy, which would refuse all that comes after it: /,
      })
    rmSync(file)
    await requireReadablePolicy(checkout, commitFiles({ a: '' }), file)
  })

  it('is a file of the disk where the base has none, and outside of the repository', async (t) => {
    const { root, write, commitFiles } = createRepository(t)
    const base = commitFiles({ a: '' })
    write('ci/review.json', policy(3))
    write('ci/signers', SIGNERS)
    const elsewhere = createRepository(t)
    elsewhere.write('review.json', policy(2))
    elsewhere.write('signers', SIGNERS)
    const checkout = await openCheckout(root)
    assert.equal((await openPolicy(checkout, base, join(root, 'ci/review.json'))).reviewers, 3)
    assert.equal((await openPolicy(checkout, base, join(elsewhere.root, 'review.json'))).reviewers, 2)
  })
})
