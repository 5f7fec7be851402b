import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { dayOfMonth, moment, timeOfDay, utcDate, utcDayOfMonth } from '../format.ts'

const COLORS = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5']

const DAY_S = 86_400
/** Height of the times below the lines, and height of a chart with denser labels of values, in pixels. */
const TIMES_PX = 28
const LOW_PX = 100

/** Ticks at the start of UTC days, as dense as there is room for. */
const DAYS: Pick<uPlot.Axis, 'incrs' | 'splits' | 'values'> = {
  incrs: [1, 2, 3, 7, 14, 28, 56, 112, 224].map((days) => days * DAY_S),
  splits(_chart, _axis, from, to, step) {
    const first = Math.ceil(from / step)
    return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, at) => (first + at) * step)
  },
  values: (_, times) => times.map((at) => utcDayOfMonth(at * 1000)),
}

/** Draws lines over time into an element, over its whole width. @returns a function that removes them */
export function plot(
  element: HTMLElement,
  options: {
    series: readonly Series[]
    format: (value: number) => string
    height: number
    days: boolean
    filled: boolean
    range: readonly [number, number] | undefined
    /** Charts of the same name share a crosshair. */
    together: string | undefined
    /** Draws the times below the lines. */
    hasTimes: boolean
    /** Called with the time of a point that is clicked, in milliseconds since 1970. */
    onPick: ((ms: number) => void) | undefined
  },
): () => void {
  const { series, format, height, days, filled, range, together, hasTimes, onPick } = options
  const color = colorsOf(element)
  const axis = {
    stroke: color('--muted'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  }
  const table = tableOf(series)
  const chart = new uPlot(
    {
      width: element.clientWidth,
      height,
      // The lowest label would be cut where no times are below it.
      padding: [8, 24, hasTimes ? 0 : 6, 0],
      legend: { show: true, live: true },
      cursor: {
        points: { size: 6 },
        drag: { x: false, y: false },
        ...(together !== undefined && { sync: { key: together, setSeries: false } }),
      },
      scales: {
        y: { range: (_, low, high) => (range ? [...range] : [Math.min(0, low ?? 0), Math.max(high ?? 0, 1e-6) * 1.1]) },
      },
      axes: [
        {
          ...axis,
          space: 64,
          size: TIMES_PX,
          values: (_, times, _axis, _space, step) => times.map((at) => timeLabel(at * 1000, step)),
          ...(days && DAYS),
          ...(!hasTimes && { size: 0, values: (_, times) => times.map(() => '') }),
        },
        {
          ...axis,
          size: 64,
          space: height < LOW_PX ? 16 : 30,
          values: (_, values) => values.map((value) => format(value)),
        },
      ],
      series: [
        { label: 'Time', value: (_, at) => (at === null ? 'latest' : (days ? utcDate : moment)(at * 1000)) },
        ...series.map((line, at) => lineOf(line, at, { color, format, filled })),
      ],
    },
    table,
    element,
  )
  if (onPick !== undefined) {
    chart.over.style.cursor = 'pointer'
    chart.over.addEventListener('click', () => {
      const at = table[0][chart.cursor.idx ?? -1]
      if (at !== undefined) onPick(at * 1000)
    })
  }
  const resize = new ResizeObserver(() => {
    if (element.clientWidth > 0 && element.clientWidth !== chart.width)
      chart.setSize({ width: element.clientWidth, height })
  })
  resize.observe(element)
  return () => {
    resize.disconnect()
    chart.destroy()
  }
}

/** Colours of an element's custom properties, such as `--muted`, in the present scheme. */
function colorsOf(element: HTMLElement): (name: string) => string {
  const probe = document.createElement('i')
  element.append(probe)
  const colors = new Map<string, string>()
  for (const name of ['--muted', '--line', '--bad', '--warn', ...COLORS]) {
    probe.style.color = `var(${name})`
    colors.set(name, getComputedStyle(probe).color)
  }
  probe.remove()
  return (name) => colors.get(name) ?? ''
}

/** Line of a chart, with its value beside the pointer. */
function lineOf(
  { label, color: own }: Series,
  at: number,
  options: { color: (name: string) => string; format: (value: number) => string; filled: boolean },
): uPlot.Series {
  const stroke = options.color(own ?? COLORS[at % COLORS.length] ?? '--series-1')
  return {
    label,
    stroke,
    width: 2,
    ...(options.filled && { fill: stroke.replace('rgb(', 'rgba(').replace(')', ', 0.13)') }),
    points: { show: false, filter: (chart, index) => alone(chart.data[index] ?? []) },
    value(chart: uPlot, value: number | null, index: number, at: number | null) {
      const shown = at === null ? lastOf(chart.data[index]) : value
      return shown === null || shown === undefined ? '—' : options.format(shown)
    },
  }
}

/** Time of day. The date at midnight, and for steps of days. @param step in seconds */
function timeLabel(ms: number, step: number): string {
  const at = new Date(ms)
  const isDay = step >= DAY_S || (at.getHours() === 0 && at.getMinutes() === 0)
  return isDay ? dayOfMonth(ms) : timeOfDay(ms)
}

/** Last value of a line, shown while the pointer is outside the chart. */
const lastOf = (values: ArrayLike<number | null | undefined> | undefined) =>
  Array.from(values ?? []).findLast((value) => value !== null && value !== undefined)

/** Indexes of isolated values. They are drawn as points, because no line leads to them. */
function alone(values: ArrayLike<number | null | undefined>): number[] {
  const has = (at: number) => typeof values[at] === 'number'
  return Array.from(values, (_, at) => at).filter((at) => has(at) && !has(at - 1) && !has(at + 1))
}

/** Table of all lines over common times, in seconds; null where a line has no point. */
function tableOf(series: readonly Series[]): uPlot.AlignedData {
  const times = [...new Set(series.flatMap(({ points }) => points.map(([at]) => at)))].sort((a, b) => a - b)
  const columns = series.map(({ points }) => {
    const values = new Map(points)
    return times.map((at) => values.get(at) ?? null)
  })
  return [times.map((at) => at / 1000), ...columns]
}

/** One line. Points are `[milliseconds since 1970, value]`, in order of time; null is a gap. */
export interface Series {
  label: string
  points: readonly (readonly [number, number | null])[]
  /** Name of a custom property such as `--series-2`; each line has one of its own by default. */
  color?: string
}
