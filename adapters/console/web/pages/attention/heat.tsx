import type { GazeRecord } from '../../../../../src/gaze/tensor.ts'
import { Card, Empty } from '../../components/content.ts'
import { duration } from '../../format.ts'
import { heatOf, positionsOf } from './buckets.ts'
import './attention.css'

const STEPS = 24
const COLUMNS = 24
const ROWS = 14
/** Time of day in the reader's zone, with seconds, because a session takes only minutes. */
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** Heat maps of attention: by place over time, and by position in the window. */
export function Heat({ records }: { records: readonly GazeRecord[] }) {
  return (
    <>
      <Card title="Places over time">
        <PlaceHeat records={records} />
      </Card>
      <Card title="Position in the window">
        <PositionHeat records={records} />
      </Card>
    </>
  )
}

function PlaceHeat({ records }: { records: readonly GazeRecord[] }) {
  const { rows, from, step, greatest, others } = heatOf(records, STEPS)
  if (rows.length === 0) return <Empty title="No records to show" />
  return (
    <div class="heat-frame" role="region" aria-label="Places over time, as a heat map" tabIndex={0}>
      <table class="heat">
        <caption class="sr">Attention by place over time; darker is longer</caption>
        <colgroup>
          <col class="heat-place" />
          <col span={STEPS} />
          <col class="heat-sum" />
        </colgroup>
        <thead class="sr">
          <tr>
            <th scope="col">Place</th>
            {Array.from({ length: STEPS }, (_, i) => (
              <th key={`${i}`} scope="col">
                {clock.format(from + i * step)}
              </th>
            ))}
            <th scope="col">Total</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ place, cells, total }) => (
            <tr key={place}>
              <th scope="row" title={place}>
                <bdi>{place}</bdi>
              </th>
              {cells.map((ms, i) => (
                <td
                  key={`${i}`}
                  style={{ '--heat': heatOfCell(ms, greatest) }}
                  title={ms > 0 ? `${duration(ms)} from ${clock.format(from + i * step)}` : undefined}
                >
                  <span class="sr">{ms > 0 ? duration(ms) : 'none'}</span>
                </td>
              ))}
              <td class="heat-total">{duration(total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="heat-axis" aria-hidden="true">
        <span>{clock.format(from)}</span>
        <span>{clock.format(from + STEPS * step)}</span>
      </p>
      {others > 0 && <p class="hint">{others} places with less attention are not shown.</p>}
    </div>
  )
}

function PositionHeat({ records }: { records: readonly GazeRecord[] }) {
  const cells = positionsOf(records, COLUMNS, ROWS)
  if (cells === null) return <Empty title="No record has a position" hint="Editors record files and lines instead." />
  const greatest = Math.max(...cells.flat())
  return (
    <figure class="window-heat">
      <svg viewBox={`0 0 ${COLUMNS} ${ROWS}`} role="img" aria-label={summaryOf(cells)}>
        {cells.flatMap((row, y) =>
          row.map((ms, x) =>
            ms > 0 ? (
              <rect {...CELL} key={`${x}/${y}`} x={x} y={y} style={{ '--heat': heatOfCell(ms, greatest) }}>
                <title>{duration(ms)}</title>
              </rect>
            ) : null,
          ),
        )}
      </svg>
      <figcaption class="hint">{summaryOf(cells)}</figcaption>
    </figure>
  )
}

const CELL = { width: 1, height: 1, rx: 0.15 }

/** Share of the colour in a cell, in five steps. The square root keeps short dwells visible beside long ones. */
const heatOfCell = (ms: number, greatest: number) => `${20 * Math.ceil(5 * Math.sqrt(Math.max(0, ms) / greatest))}%`

function summaryOf(cells: readonly (readonly number[])[]): string {
  const all = cells.flat().reduce((sum, ms) => sum + ms, 0)
  const top = cells
    .slice(0, ROWS / 2)
    .flat()
    .reduce((sum, ms) => sum + ms, 0)
  const left = cells.flatMap((row) => row.slice(0, COLUMNS / 2)).reduce((sum, ms) => sum + ms, 0)
  const percent = (part: number) => `${Math.round((100 * part) / all)}%`
  return `${percent(top)} of the attention was in the upper half, ${percent(left)} in the left half.`
}
