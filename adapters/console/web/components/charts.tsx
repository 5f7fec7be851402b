import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { offline } from '../api.ts'
import { moment, short, utcDate } from '../format.ts'
import { go } from '../router.ts'
import { Empty, Facts } from './layout.tsx'
import type { Series } from './plot.ts'

/** Rows of the table beside a chart. */
const TABLE_ROWS = 200

/**
 * Chart of lines over time, with a table of the values.
 *
 * @param format formats a value as text
 * @param hrefOf list of what the point of a time counts; a click on the chart, and its times in the table, lead there
 */
export function LineChart(props: {
  label: string
  series: readonly Series[]
  height?: number
  format?: (value: number) => string
  /** Each point is a UTC day and is labelled with its date. */
  days?: boolean
  /** Draws the area below the lines. */
  filled?: boolean
  /** Smallest and largest value; by default from zero to the largest needed. */
  range?: readonly [number, number]
  /** Name of charts with the same times, which share a crosshair. */
  together?: string
  /** False where another chart below shows the times. */
  hasTimes?: boolean
  hrefOf?: (ms: number) => string
}) {
  const frame = useRef<HTMLDivElement>(null)
  const [scheme, setScheme] = useState(0)
  const [failed, setFailed] = useState(false)
  // Drawn again when Gazeway answers again, because the drawing module may not have been loaded.
  const isOffline = offline.value
  const { series, height = 180, days = false, filled = false, range, format = short } = props
  const { together, hasTimes = true, hrefOf } = props
  const drawn = JSON.stringify([series, scheme, height, days, hasTimes])
  const hasPoints = series.some(({ points }) => points.length > 0)
  const isLine = series.some(({ points }) => valuesOf(points).length > 1)

  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const onChange = () => setScheme((n) => n + 1)
    dark.addEventListener('change', onChange)
    return () => dark.removeEventListener('change', onChange)
  }, [])

  useEffect(() => {
    const element = frame.current
    if (!element || !isLine) return
    let gone = false
    let remove = () => {}
    import('./plot.ts').then(
      ({ plot }) => {
        if (gone) return
        setFailed(false)
        const onPick = hrefOf && ((ms: number) => go(hrefOf(ms)))
        remove = plot(element, { series, format, height, days, filled, range, together, hasTimes, onPick })
      },
      () => setFailed(true),
    )
    return () => {
      gone = true
      remove()
    }
    // `drawn` contains all that the drawing depends on.
  }, [drawn, isLine, isOffline])

  if (!hasPoints) return <Empty title="No data yet" />
  if (!isLine) return <Latest series={series} format={format} />
  return (
    <figure class="chart">
      <div
        ref={frame}
        role="img"
        aria-label={`${props.label}: ${summaryOf(series, format)}`}
        style={{ minHeight: `${height}px` }}
      />
      {failed && <p class="hint">The chart could not be loaded. Reload the page, or open the table of values.</p>}
      <details>
        <summary>{props.label} as a table</summary>
        <PointsTable
          label={props.label}
          series={series}
          format={format}
          timeOf={days ? utcDate : moment}
          hrefOf={hrefOf}
        />
      </details>
    </figure>
  )
}

/** Values of lines with one point. */
function Latest({ series, format }: { series: readonly Series[]; format: (value: number) => string }) {
  const texts = series.map(({ label, points }) => [label, valuesOf(points).map(format).join() || '—'])
  return <Facts of={Object.fromEntries(texts)} />
}

const valuesOf = (points: Series['points']) => points.flatMap(([, value]) => (value === null ? [] : [value]))

function PointsTable(props: {
  label: string
  series: readonly Series[]
  format: (value: number) => string
  timeOf: (ms: number) => string
  hrefOf: ((ms: number) => string) | undefined
}) {
  const { timeOf, hrefOf } = props
  const times = [...new Set(props.series.flatMap(({ points }) => points.map(([at]) => at)))].sort((a, b) => b - a)
  const values = props.series.map(({ points }) => new Map(points))
  return (
    <div class="points" role="region" aria-label={`${props.label}, values`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {props.series.map(({ label }) => (
              <th key={label} scope="col" class="right">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.slice(0, TABLE_ROWS).map((at) => (
            <tr key={at}>
              <th scope="row">{hrefOf ? <a href={hrefOf(at)}>{timeOf(at)}</a> : timeOf(at)}</th>
              {values.map((of, index) => {
                const value = of.get(at)
                return (
                  <td key={props.series[index]?.label} class="right">
                    {typeof value === 'number' ? props.format(value) : '—'}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function summaryOf(series: readonly Series[], format: (value: number) => string): string {
  return series
    .map(({ label, points }) => {
      const values = valuesOf(points)
      const last = values.at(-1)
      return last === undefined
        ? `${label}, no values`
        : `${label}, last ${format(last)}, at most ${format(Math.max(...values))}`
    })
    .join('; ')
}

/** Bars for amounts, in the given order. */
export function BarList(props: {
  label: string
  items: readonly { label: string; value: number; text?: string; href?: string | undefined }[]
  empty?: string
}) {
  const id = useId()
  const greatest = Math.max(...props.items.map(({ value }) => value), Number.MIN_VALUE)
  if (props.items.length === 0) return <Empty title={props.empty ?? 'No data yet'} />
  return (
    <ul class="bars" aria-label={props.label}>
      {props.items.map(({ label, value, text, href }, at) => (
        <li key={`${label}-${at}`}>
          <span class="bar-label" id={`${id}-${at}`}>
            {href ? <a href={href}>{label}</a> : label}
          </span>
          <span class="bar-text">{text ?? short(value)}</span>
          <span class="bar" aria-hidden="true">
            <span style={{ width: `${(100 * Math.max(0, value)) / greatest}%` }} />
          </span>
        </li>
      ))}
    </ul>
  )
}
