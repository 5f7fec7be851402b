import fc from 'fast-check'
import { GazeSource, type GazeTensor } from '../../src/gaze/tensor.ts'

const share = fc.double({ min: 0, max: 1, noNaN: true })
const START = Date.parse('2026-11-21T07:00:00.000Z')

/** Any tensor that the schema accepts, within one hour and few places, so that records meet each other. */
export const tensor: fc.Arbitrary<GazeTensor> = fc
  .record(
    {
      offset: fc.integer({ min: 0, max: 3_600_000 }),
      dwell_ms: fc.integer({ min: 0, max: 60_000 }),
      source: fc.constantFrom(...GazeSource.options),
      confidence: share,
      cog: fc.record({ focus: share, load: share }, { requiredKeys: [] }),
      emo: fc.record({ valence: fc.double({ min: -1, max: 1, noNaN: true }), arousal: share }, { requiredKeys: [] }),
      env: fc.record(
        {
          path: fc.constantFrom('src/a.ts', 'src/b.ts', 'src/c.ts', 'docs/d.md', 'e.json'),
          url: fc.constant('https://example.org/'),
          app: fc.constant('terminal'),
          x: share,
          y: share,
          distraction: share,
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: ['offset', 'dwell_ms', 'source', 'env'] },
  )
  .map(({ offset, ...rest }) => ({ at: new Date(START + offset).toISOString(), ...rest }))

/** Some tensors in any order. */
export const tensors: fc.Arbitrary<GazeTensor[]> = fc.array(tensor, { maxLength: 60 })

/** The same tensors in two orders. */
export const shuffled: fc.Arbitrary<[GazeTensor[], GazeTensor[]]> = tensors.chain((records) =>
  fc.tuple(fc.constant(records), fc.shuffledSubarray(records, { minLength: records.length })),
)
