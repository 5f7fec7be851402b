import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createGaze } from '../../src/gaze/gaze.ts'
import { endOf } from '../../src/gaze/scanpath.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import type { Store } from '../../src/store/store.ts'
import { pageOf, readingOf, samplesOf } from '../gaze/reader.ts'
import { shifted } from '../gaze/streams.ts'

const CONFIG = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }

/** The end of the last record, which is when a client would send it. */
export const sentAfter = (records: readonly GazeTensor[]): Date => new Date(Math.max(...records.map(endOf)))

/** Tests of the samples of eye trackers, for every engine. @param rates samples a second */
export function gazeTrackersContract(open: () => Promise<Store>, rates: readonly number[]): void {
  describe('gaze of trackers', () => {
    for (const [i, hz] of rates.entries())
      it(`attests a reader whose tracker takes ${hz} samples a second${hz === 250 ? ', and tells a copy' : ''}`, async () => {
        const store = await open()
        let clock = new Date('2026-11-21T07:05:00.000Z')
        const gaze = createGaze({ store, config: CONFIG, now: () => clock })
        const seconds = hz === 4 ? 30 : 10
        const samples = samplesOf(readingOf(pageOf(1), i + 1, { seconds }), { hz })
        const send = async (session_id: string, records: GazeTensor[]) => {
          clock = sentAfter(records)
          let sent = await gaze.store({ session_id, records: records.slice(0, 1000) })
          for (let from = 1000; from < records.length; from += 1000)
            sent = await gaze.store({ session_id, records: records.slice(from, from + 1000) })
          return sent.attestation
        }
        const original = await send('original', samples)
        assert.deepEqual([original.status, original.reasons], ['passed', []])
        if (hz === 250) {
          const changed = samples.map((sample) => ({
            ...sample,
            env: { ...sample.env, x: (sample.env.x ?? 0) + 1e-5 },
          }))
          const copy = await send('copy', shifted(changed, 7_003))
          assert.deepEqual([copy.status, copy.replayed], ['failed', true])
        }
        await store.close()
      })
  })
}
