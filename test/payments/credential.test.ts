import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createPayments, type Payments } from '../../src/payments/payments.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'

describe('a credential that cannot be read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-credential-'))
  let store: Store
  let payments: Payments
  before(async () => {
    store = await openStore(`sqlite:${join(folder, 'store.db')}`)
    payments = createPayments({
      store,
      now: () => new Date(),
      methods: [],
      credit: async () => {},
      onError: (error) => assert.fail(String(error)),
      onFailed: () => {},
      onSpent: ({ id }) => assert.fail(id),
    })
  })
  after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })

  const encoded = (challenge: object) => Buffer.from(JSON.stringify({ challenge })).toString('base64url')
  const credentials = {
    'is nothing but padding': `${'='.repeat(1_000_000)}x`,
    'holds nothing but padding': encoded({ request: `${'='.repeat(1_000_000)}x` }),
    'is no base64': '{}',
  }
  for (const [what, credential] of Object.entries(credentials))
    it(`is refused at once where it ${what}`, async () => {
      const terms = { amount: 1, scope: 'GET /v1/models', description: 'One request' }
      const began = performance.now()
      await assert.rejects(payments.take(`Payment ${credential}`, terms), { code: 'payment_required' })
      // What grows by the square of its length takes minutes.
      assert.ok(performance.now() - began < 30_000)
    })
})
