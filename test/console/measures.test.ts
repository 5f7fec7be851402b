import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { shortId } from '../../adapters/console/web/format.ts'
import { channelsOf, heatOf, positionsOf } from '../../adapters/console/web/pages/attention/buckets.ts'
import { cogOf, emoOf } from '../../adapters/console/web/pages/capture/attention-estimate.ts'
import { createDwellFinder, type Dwell, POINTER, WEBCAM } from '../../adapters/console/web/pages/capture/dwells.ts'
import { nextView, wholeOf } from '../../adapters/console/web/pages/capture/face-view.ts'
import { type CalibrationSample, learnGaze } from '../../adapters/console/web/pages/capture/gaze-map.ts'
import { humanStream } from '../gaze/human-stream.ts'

describe('where the pointer or the gaze stayed', () => {
  it('is a stay from its first position to the one that leaves it, also where nothing came in between', () => {
    const finder = createDwellFinder(POINTER)
    assert.equal(finder.push({ at: 1000, x: 0.5, y: 0.5 }), null)
    assert.equal(finder.push({ at: 1040, x: 0.51, y: 0.51 }), null)
    const stay = finder.push({ at: 3000, x: 0.7, y: 0.5 })
    assert.deepEqual([stay?.at, stay?.ms], [1000, 2000])
    assert.ok(Math.abs((stay?.x ?? 0) - 0.505) < 1e-9, 'at the mean position')
    assert.equal(finder.push({ at: 3050, x: 0.9, y: 0.5 }), null, 'passed by')
    assert.equal(finder.end(3500)?.ms, 450)
    assert.equal(finder.end(4000), null)
  })

  it('ends ten seconds after a pointer’s last sign of life, and after a webcam’s last picture but 400 ms', () => {
    const pointer = createDwellFinder(POINTER)
    pointer.push({ at: 0, x: 0.5, y: 0.5 })
    assert.equal(pointer.push({ at: 60_000, x: 0.5, y: 0.5 })?.ms, 10_000)
    const webcam = createDwellFinder(WEBCAM)
    webcam.push({ at: 0, x: 0.5, y: 0.5 })
    webcam.push({ at: 200, x: 0.52, y: 0.5 })
    assert.equal(webcam.push({ at: 5000, x: 0.5, y: 0.5 })?.ms, 600)
    assert.equal(webcam.end(9000), null, 'one picture shows no stay')
  })

  it('never overlaps, is never shorter than a fixation, and lies where the positions were', () => {
    const step = fc.record({
      after: fc.integer({ min: 1, max: 3000 }),
      x: fc.float({ min: 0, max: 1, noNaN: true }),
      y: fc.float({ min: 0, max: 1, noNaN: true }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(POINTER, WEBCAM), (steps, terms) => {
        const finder = createDwellFinder(terms)
        let at = 0
        const stays: Dwell[] = []
        for (const { after, x, y } of steps) {
          at += after
          const stay = finder.push({ at, x, y })
          if (stay) stays.push(stay)
        }
        const last = finder.end(at + 500)
        if (last) stays.push(last)
        for (const [i, stay] of stays.entries()) {
          const before = stays[i - 1]
          assert.ok(stay.ms >= 100, `${stay.ms} ms`)
          assert.ok(stay.ms <= 60_000, 'fits into a record')
          assert.ok(stay.x >= 0 && stay.x <= 1 && stay.y >= 0 && stay.y <= 1, 'inside the window')
          if (before) assert.ok(before.at + before.ms <= stay.at, 'one after the other')
        }
      }),
    )
  })
})

describe('gaze from a face', () => {
  const points = [0.1, 0.5, 0.9].flatMap((y) => [0.06, 0.5, 0.94].map((x) => ({ x, y })))
  /** Irises that go with the gaze, and a head that moves a little; `noise` is a share of what the irises do. */
  const samples = (noise: number): CalibrationSample[] =>
    points.flatMap(({ x, y }, i) =>
      Array.from({ length: 5 }, (_, j) => {
        const shake = noise * Math.sin(17 * i + 5 * j)
        const head = 0.01 * Math.cos(3 * i + j)
        return { x, y, features: [0.2 * (0.5 - x) + 0.2 * shake, 0.1 * (y - 0.5) - 0.1 * shake, head, -head, 0.5, 0.4] }
      }),
    )

  it('is learnt from samples at nine points, and knows how far off it is', () => {
    const exact = learnGaze(samples(0))
    assert.ok(exact && exact.error < 0.03, `${exact?.error} off`)
    const { x, y } = exact.at([0.2 * (0.5 - 0.3), 0.1 * (0.7 - 0.5), 0, 0, 0.5, 0.4])
    assert.ok(Math.hypot(x - 0.3, y - 0.7) < 0.03, `${x}/${y}`)
    const noisy = learnGaze(samples(0.4))
    assert.ok(noisy && noisy.error > 0.1, `${noisy?.error} off`)
  })

  it('stays on the window, whatever the face does, and needs four points', () => {
    const map = learnGaze(samples(0.1))
    const feature = fc.float({ min: -10, max: 10, noNaN: true })
    fc.assert(
      fc.property(fc.array(feature, { minLength: 6, maxLength: 6 }), (features) => {
        const { x, y } = map?.at(features) ?? { x: -1, y: -1 }
        assert.ok(x >= 0 && x <= 1 && y >= 0 && y <= 1, `${x}/${y}`)
      }),
    )
    assert.equal(learnGaze(samples(0).slice(0, 15)), null)
    assert.equal(learnGaze([]), null)
  })
})

describe('what is looked at in a camera’s picture', () => {
  const camera = { width: 1280, height: 720 }

  it('is the part around the face, and keeps its place while the face stays about there', () => {
    const whole = wholeOf(camera)
    const view = nextView(whole, { x: 0.4, y: 0.3, width: 0.1, height: 0.2 }, camera)
    assert.ok(
      Math.abs(view.width - 128 / 0.45) < 1e-6 && Math.abs(view.x + view.width / 2 - 576) < 1e-6,
      'around the face',
    )
    assert.ok(Math.abs(view.width / view.height - 16 / 9) < 1e-9, 'in the form of the picture')
    assert.deepEqual(nextView(view, { x: 0.28, y: 0.1, width: 0.45, height: 0.85 }, camera), view)
    assert.notDeepEqual(nextView(view, { x: 0.5, y: 0.1, width: 0.45, height: 0.85 }, camera), view)
    assert.deepEqual(nextView(view, null, camera), whole)
  })

  it('never leaves the picture', () => {
    const share = fc.float({ min: 0, max: 1, noNaN: true })
    const face = fc.record({ x: share, y: share, width: share, height: share })
    fc.assert(
      fc.property(fc.array(face, { maxLength: 20 }), (faces) => {
        let view = wholeOf(camera)
        for (const one of faces) view = nextView(view, one, camera)
        assert.ok(view.x >= 0 && view.x + view.width <= camera.width + 1e-6, 'across')
        assert.ok(view.y >= 0 && view.y + view.height <= camera.height + 1e-6, 'down')
      }),
    )
  })
})

describe('COG and EMO while reading', () => {
  it('has focus fall with time beside the text, and load rise with going back', () => {
    const forth = [1, 2, 3, 4].map((line, i) => ({ at: 1000 * i, ms: 900, line }))
    assert.deepEqual(cogOf(forth, 0), { focus: 0.923, load: 0 })
    const back = [1, 2, 1, 2].map((line, i) => ({ at: 1000 * i, ms: 900, line }))
    assert.equal(cogOf(back, 0).load, 0.333)
    const beside = forth.map((dwell) => ({ ...dwell, line: null }))
    assert.deepEqual(cogOf(beside, 0), { focus: 0, load: 0 })
    assert.deepEqual(cogOf([], 0), { focus: 0, load: 0 })
  })

  it('weighs expressions by how sure the model is of them', () => {
    assert.equal(emoOf([]), null)
    assert.deepEqual(
      emoOf([
        { emotion: 'happy', score: 0.5 },
        { emotion: 'neutral', score: 0.5 },
      ]),
      { valence: 0.45, arousal: 0.3 },
    )
    assert.equal(emoOf([{ emotion: 'unheard of', score: 1 }]), null)
  })
})

describe('an id in short', () => {
  it('keeps its kind and its end, and is short whatever the id is', () => {
    assert.equal(shortId('key_019aa5b2c3d47e6f8091a2b3c4d5e6f7'), 'key_…5e6f7')
    assert.equal(shortId('reading-code'), 'reading-code')
    assert.equal(shortId('0x5FbDB2315678afecb367f032d93F642f64180aa3'), '0x5FbD…80aa3')
    assert.equal(shortId(`${'s'.repeat(100)}_${'t'.repeat(28)}`), 'ssssss…ttttt')
  })
})

describe('how attention is drawn', () => {
  const records = humanStream(3, { records: 200 }).map((record, i) => ({
    ...record,
    id: `gaze_${i}`,
    session_id: 's',
    task_id: null,
    seq: i + 1,
    hash: '0'.repeat(64),
  })) as Parameters<typeof heatOf>[0]
  const dwell = records.reduce((sum, record) => sum + record.dwell_ms, 0)
  const sum = (cells: readonly number[]) => cells.reduce((a, b) => a + b, 0)

  it('puts all dwell into cells by place and time, the most seen places first', () => {
    const few = records.map((record) => ({ ...record, env: { path: record.env.path ?? 'x' } }))
    const { rows, others, greatest } = heatOf(few, 24)
    assert.deepEqual([rows.length, others], [3, 0])
    assert.equal(sum(rows.flatMap(({ cells }) => cells)), dwell)
    assert.deepEqual(
      rows.map(({ total }) => total),
      rows.map(({ total }) => total).sort((a, b) => b - a),
    )
    assert.equal(greatest, Math.max(...rows.flatMap(({ cells }) => cells)))
    assert.ok(heatOf(records, 24).others > 0, 'of many regions the least seen are left out, and counted')
    assert.deepEqual(heatOf([], 24).rows, [])
  })

  it('puts all dwell into cells by position, where there are positions', () => {
    assert.equal(sum((positionsOf(records, 24, 14) ?? []).flat()), dwell)
    assert.equal(
      positionsOf(
        records.map((record) => ({ ...record, env: {} })),
        24,
        14,
      ),
      null,
    )
  })

  it('draws channels between 0 and 1, with gaps where nothing was recorded', () => {
    const [first, last] = [records.slice(0, 50), records.slice(150)]
    const { cog, emo, env } = channelsOf([...first, ...last], 20)
    for (const line of [cog, emo, env]) {
      assert.equal(line.length, 20)
      assert.ok(
        line.some(([, value]) => value === null),
        'a gap',
      )
      assert.ok(
        line.every(([, value]) => value === null || (value >= 0 && value <= 1)),
        'a share',
      )
    }
  })
})
