import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { createMemory, MemoryInput } from '../../src/memory/memory.ts'
import { openStore } from '../../src/store/open-store.ts'
import { makeDeposit } from '../../src/wallet/ledger/deposits.ts'
import { runHere } from '../e2e/in-process.ts'
import { newPlace, putStore } from '../e2e/server.ts'
import { holdersOf } from './holders-of.ts'

const WALLET = '0xAbCdEf0000000000000000000000000000000001'

it('gazeway forget takes a key by name, also a revoked one, or id and a wallet in any case, and refuses what names nobody', async (t) => {
  const place = newPlace()
  putStore(place)
  const ids: string[] = []
  for (const name of ['ann', 'bob', 'eve']) {
    const { stderr } = await runHere(place, ['key', 'create', '--name', name])
    ids.push(/\((key_\w+),/.exec(stderr)?.[1] ?? assert.fail(stderr))
  }
  const [ann = '', bob = '', eve = ''] = ids
  const store = await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)
  t.after(() => store.close())
  const now = () => new Date()
  const memory = createMemory({ store, now })
  const deposit = (caller_id: string) =>
    makeDeposit(store, { caller_id, amount_usd: 5, reference: caller_id }, now(), { hasFixedKey: false })
  for (const [owner, word] of [
    [ann, 'zanzibar'],
    [bob, 'lofoten'],
    [eve, 'bergen'],
    [WALLET.toLowerCase(), 'svalbard'],
  ] as const) {
    await memory.of(owner).store(MemoryInput.parse({ key: word, value: `The harbour of ${word}.` }))
    await deposit(owner)
  }
  const holders = async () => {
    const found = []
    for (const word of ['zanzibar', 'lofoten', 'bergen', 'svalbard'])
      if (Object.keys(await holdersOf(store.db, word)).length > 0) found.push(word)
    return found
  }

  for (const [flags, code, said] of [
    [[], 2, /name whom to forget, by --key or by --user/],
    [['--key', 'ann', '--user', ann], 2, /name whom to forget, by --key or by --user/],
    [['--key', 'nobody'], 1, /There is no key with this name or id/],
    [['--user', 'key_nobody'], 1, /[Nn]o/],
  ] as const) {
    const refused = await runHere(place, ['forget', ...flags])
    assert.equal(refused.code, code, refused.stderr)
    assert.match(refused.stderr, said)
  }
  assert.deepEqual(await holders(), ['zanzibar', 'lofoten', 'bergen', 'svalbard'])
  // As a run leaves it that is killed before it erases anything.
  assert.equal((await runHere(place, ['key', 'revoke', 'eve'])).code, 0)

  for (const [flags, id, left] of [
    [['--key', 'ann'], ann, ['lofoten', 'bergen', 'svalbard']],
    [['--user', bob], bob, ['bergen', 'svalbard']],
    [['--key', 'eve'], eve, ['svalbard']],
    [['--user', WALLET], WALLET.toLowerCase(), []],
  ] as const) {
    const done = await runHere(place, ['forget', ...flags])
    assert.deepEqual([done.code, done.stderr], [0, ''])
    assert.match(done.stdout, / memories\n[\s\S]*Ledger, receipts and sums stay\./)
    assert.ok(done.stdout.includes(`Forgot ${id}.`))
    assert.deepEqual(await holders(), left)
  }
  const { stdout } = await runHere(place, ['doctor', '--upstream', 'sandbox'])
  assert.match(stdout, /ok +ledger +4 transfers, in order/)
})
