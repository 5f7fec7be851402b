import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InsertQueryNode, type KyselyPlugin, ValuesNode } from 'kysely'
import { verifyChain } from '../../src/gaze/fingerprint.ts'
import { createGaze } from '../../src/gaze/gaze.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import type { Store } from '../../src/store/store.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { shifted } from '../gaze/streams.ts'

const CONFIG = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }
const LARGEST = 1000

/** Tests of the largest batch of gaze records, for every engine: it does not block the store for long. */
export function gazeBatchesContract(open: () => Promise<Store>): void {
  describe('the largest batch of gaze records', () => {
    const now = () => new Date('2026-11-21T07:05:00.000Z')

    it('is made ready before it takes the store', async () => {
      const store = await open()
      let isWriting = false
      const seen = { before: 0, meanwhile: 0 }
      const write: Store['write'] = async (work) => {
        isWriting = true
        return store.write(work).finally(() => {
          isWriting = false
        })
      }
      const watched = humanStream(1, { records: LARGEST }).map((record) =>
        Object.defineProperty({ ...record }, 'cog', {
          enumerable: true,
          get() {
            if (isWriting) seen.meanwhile++
            else seen.before++
            return record.cog
          },
        }),
      )
      const { stored } = await createGaze({ store: { ...store, write }, config: CONFIG, now }).store({
        records: watched,
      })
      assert.equal(stored, LARGEST)
      assert.ok(seen.before >= LARGEST, `only ${seen.before} reads before`)
      assert.equal(seen.meanwhile, 0, 'what a record says is read again while others wait for the store')
      await store.close()
    })

    it('is written with statements that were built for the first one', async () => {
      const store = await open()
      let built = 0
      const counting: KyselyPlugin = {
        transformQuery({ node }) {
          if (InsertQueryNode.is(node) && node.values && ValuesNode.is(node.values)) built += node.values.values.length
          return node
        },
        transformResult: async ({ result }) => result,
      }
      const write: Store['write'] = (work) => store.write((trx) => work(trx.withPlugin(counting) as typeof trx))
      const gaze = createGaze({ store: { ...store, write }, config: CONFIG, now })
      await gaze.store({ session_id: 'first', records: humanStream(1, { records: LARGEST }) })
      assert.ok(built > 0, 'no statement was seen')
      built = 0
      await gaze.store({ session_id: 'second', records: humanStream(2, { records: LARGEST }) })
      // The session and the attestation are a row each; a few more are of a size that the first batch did not need.
      assert.ok(built < LARGEST / 5, `${built} rows were built into statements anew`)
      await store.close()
    })

    it('is chained in the order of time, all of it or nothing', async () => {
      const store = await open()
      const gaze = createGaze({ store, config: CONFIG, now })
      const records = humanStream(3, { records: LARGEST })
      const half: GazeTensor[] = records.slice(0, 500)
      await gaze.store({ session_id: 's', records: half.toReversed() })
      const refused = gaze.store({ session_id: 's', records }, undefined, undefined, async () => {
        throw new Error('not kept')
      })
      await assert.rejects(refused, /not kept/)
      assert.equal((await gaze.retrieve({ session_id: 's', limit: 1 })).total, 500)
      const rest = await gaze.store({ session_id: 's', records: records.toReversed() })
      assert.deepEqual([rest.stored, rest.duplicates], [500, 500])
      const page = await gaze.retrieve({ session_id: 's', limit: 1000 })
      assert.deepEqual(
        page.items.map(({ at }) => at),
        records.map(({ at }) => at).reverse(),
      )
      const chained = page.items.toSorted((a, b) => a.seq - b.seq)
      assert.equal(chained.at(-1)?.seq, LARGEST)
      assert.ok(verifyChain(chained), 'the chain is broken')
      assert.equal(rest.attestation.chain_head, chained.at(-1)?.hash)
      await store.close()
    })

    it('of several sessions at once is stored for each, and single writes come between', async () => {
      const store = await open()
      const gaze = createGaze({ store, config: CONFIG, now })
      const over: string[] = []
      const batches = [0, 1, 2].map(async (i) => {
        const records = shifted(humanStream(i, { records: LARGEST }), i)
        assert.equal((await gaze.store({ session_id: `ses_${i}`, records })).stored, LARGEST)
        over.push('batch')
      })
      const single = gaze.store({ session_id: 'single', records: humanStream(9, { records: 1 }) }).then(() => {
        over.push('single')
      })
      await Promise.all([...batches, single])
      assert.ok(over.indexOf('single') < 3, `a single record came last: ${over.join(', ')}`)
      await store.close()
    })
  })
}
