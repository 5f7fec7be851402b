import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { type RunningPlatform, startPlatform } from '../adapters/platform.ts'

/**
 * Bytes that a call may add to a SQLite store, all tables with their indexes, by its billing. A recorded call takes less than
 * 400; each latency of a busy machine adds a row of counts, which some hundreds of calls share.
 */
const MOST = { cost: 1200, recorded: 430 }

/** Calls that are made, and how many at once. */
interface Calls {
  billing: keyof typeof MOST
  clients: number
  calls: number
}

/** Tests of the bytes that calls add to a store: the more calls, the fewer of them are pages that are not full. */
export const bytesPerCall = (of: readonly Calls[]) =>
  describe('a SQLite store', () => {
    let platform: RunningPlatform
    before(async () => {
      platform = await startPlatform('sandbox')
    })
    after(async () => {
      await platform.close()
    })

    async function bytes(): Promise<number> {
      const { gateway } = platform
      await gateway.calls.flush()
      const { rows } = await sql<{ bytes: number }>`select sum(pgsize) as bytes from dbstat`.execute(gateway.store.db)
      return rows[0]?.bytes ?? Number.NaN
    }

    for (const { billing, clients, calls } of of)
      it(`grows by at most ${MOST[billing]} bytes with a call whose billing is ${billing}, of ${clients} at once`, async (t) => {
        const { gateway, gatewayUrl } = platform
        const { key, record } = await gateway.keys.create({ name: billing, scopes: ['inference'], billing })
        await gateway.wallet.deposit({ caller_id: record.id, amount_usd: 100, reference: `${billing}-${clients}` })
        const call = async () => {
          const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
          const body = JSON.stringify({ max_tokens: 10, messages: [{ role: 'user', content: 'Hello.' }] })
          const reply = await fetch(`${gatewayUrl}/v1/chat/completions`, { method: 'POST', headers, body })
          assert.equal(reply.status, 200, await reply.text())
        }
        await call()
        const began = await bytes()
        let left = calls
        await Promise.all(
          Array.from({ length: clients }, async () => {
            while (left-- > 0) await call()
          }),
        )
        const each = ((await bytes()) - began) / calls
        t.diagnostic(`${each.toFixed(0)} bytes a call`)
        assert.equal((await gateway.calls.history({ caller_id: record.id, limit: 1 })).total, calls + 1)
        assert.ok(each <= MOST[billing], `${each} bytes`)
      })
  })
