import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { readChange } from '../../src/review/change.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { readPatched, readStaged } from '../../src/review/uncommitted.ts'
import { createRepository, numbered } from './repository.ts'

describe('a change that is not committed', () => {
  it('has the digest and the hunks that its commit will have, staged or as a patch', async (t) => {
    const repository = createRepository(t)
    repository.commitFiles({ 'a.txt': numbered(20), 'b.txt': 'two\n' })
    const checkout = await openCheckout(repository.root)
    repository.write('a.txt', numbered(20).replace('line 9\n', 'nine\n'))
    repository.git('add', 'a.txt')
    repository.write('b.txt', 'not staged\n')
    const staged = await readStaged(checkout)
    const patch = execFileSync('git', ['-C', repository.root, 'diff', '--cached'], { encoding: 'utf8' })
    repository.git('reset', '-q')
    const status = repository.git('status', '--porcelain')
    const patched = await readPatched(checkout, patch)
    assert.equal(repository.git('status', '--porcelain'), status, 'neither the checkout nor its index changed')
    repository.git('add', 'a.txt')
    repository.git('commit', '-qm', 'Change')
    const { digest, parts, base, head } = await readChange(checkout, 'HEAD^', 'HEAD')
    for (const change of [staged, patched])
      assert.deepEqual(change, { digest, parts, base, head: { commit: null, tree: head.tree } })
  })

  it('is refused where a patch does not apply', async (t) => {
    const repository = createRepository(t)
    repository.commitFiles({ 'a.txt': 'one\n' })
    const checkout = await openCheckout(repository.root)
    await assert.rejects(readPatched(checkout, 'no patch'), { code: 'not_found', message: /No valid patches/ })
  })
})
