import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Claim, type Claims, createClaims } from '../../src/payments/claims.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { sharedPostgres } from '../contract/shared-postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-claims-'))
const server = await sharedPostgres()
after(async () => {
  rmSync(folder, { recursive: true })
})

const engines: Record<string, () => Promise<string>> = {
  sqlite: async () => `sqlite:${join(folder, 'store.db')}`,
  postgres: () => server.databaseWithTables(),
}

for (const [engine, url] of Object.entries(engines))
  describe(`claims on payments (${engine})`, () => {
    let store: Store
    const now = () => new Date('2026-11-21T07:00:00.123Z')
    const claim = (id: string, proof = '0x1'): Claim => ({
      id,
      method: 'evm',
      payer: '0xa',
      caller: '0xa',
      account: '0xa',
      amount: 90_000,
      scope: 'GET /v1/models',
      proof,
      expiresAt: '2026-11-21T07:05:00.000Z',
    })

    before(async () => {
      store = await openStore(await url())
    })
    after(() => store.close())

    it('lets one of many claims on a credential win', async () => {
      const claims = createClaims({ store, now })
      assert.equal(await claims.isUsed('a'), false)
      const won = await Promise.all(Array.from({ length: 20 }, () => claims.claim(claim('a'))))
      assert.equal(won.filter((lease) => lease !== null).length, 1)
      assert.equal(await claims.isUsed('a'), true)
    })

    it('lets one of many claims on a credential win that is free again', async () => {
      const claims = createClaims({ store, now })
      await claims.claim(claim('free'))
      assert.equal(await claims.advance('free', 'claimed', 'freed'), true)
      assert.equal(await claims.isUsed('free'), false)
      const won = await Promise.all(Array.from({ length: 20 }, () => claims.claim(claim('free'))))
      assert.equal(won.filter((lease) => lease !== null).length, 1)
      assert.equal(await claims.isUsed('free'), true)
      assert.equal(await claims.advance('free', 'claimed', 'failed'), true)
      assert.equal(await claims.claim(claim('free')), null)
    })

    it('lets a payment take each step once, and what was signed count once', async () => {
      const claims = createClaims({ store, now })
      await claims.claim(claim('b'))
      const steps = await Promise.all([1, 2, 3].map(() => claims.advance('b', 'claimed', 'settled', '0xtx')))
      assert.equal(steps.filter(Boolean).length, 1)
      await claims.claim(claim('c'))
      assert.equal(await claims.advance('c', 'claimed', 'settled', '0xtx'), false)
      assert.equal(await claims.advance('c', 'claimed', 'settled', '0xother'), false)
      assert.equal(await claims.advance('b', 'settled', 'served'), true)
      assert.equal(await claims.advance('b', 'settled', 'crediting'), false)
    })

    it('lets a transaction count for each payment that it carried out', async () => {
      const claims = createClaims({ store, now })
      for (const [id, proof] of [
        ['first', '0x2'],
        ['second', '0x3'],
      ] as const) {
        await claims.claim(claim(id, proof))
        assert.equal(await claims.advance(id, 'claimed', 'settled', '0xboth'), true)
        assert.equal(await claims.advance(id, 'settled', 'served'), true)
      }
    })

    it('gives the payments of a process that is gone to one other', async () => {
      const claims = createClaims({ store, now })
      const ids = async () => (await claims.takeOver(10)).map(({ id }) => id)
      const lapse = (id: string) =>
        store.db
          .updateTable('payments')
          .set({ lease_until: new Date(0).toISOString() })
          .where('id', '=', id)
          .where('lease_until', 'is not', null)
          .execute()
      const lease = (await claims.claim(claim('d', '0x4'))) as string
      const renewed = await claims.renew('d', lease)
      assert.ok(renewed !== null && renewed >= lease)
      assert.equal(await claims.renew('d', new Date(0).toISOString()), null)
      assert.deepEqual(await ids(), [])
      for (const id of ['b', 'c', 'd']) await lapse(id)
      const taken = await Promise.all([1, 2, 3, 4].map(() => claims.takeOver(10)))
      assert.deepEqual(
        taken
          .flat()
          .map(({ id }) => id)
          .toSorted(),
        ['c', 'd'],
      )
      assert.equal(await claims.renew('d', renewed), null, 'another process has it now')
      await claims.abandon('c')
      assert.deepEqual(await ids(), ['c'])
    })

    it('takes nothing over from a process whose clock is another', async () => {
      const [slow, fast] = [-20, 20].map((minutes) =>
        createClaims({ store, now: () => new Date(Date.now() + minutes * 60_000) }),
      ) as [Claims, Claims]
      await slow.claim(claim('slow', '0x5'))
      await fast.claim(claim('fast', '0x6'))
      assert.deepEqual(await fast.takeOver(10), [])
      assert.deepEqual(await slow.takeOver(10), [])
    })
  })
