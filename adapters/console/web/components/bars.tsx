import { useRef, useState } from 'preact/hooks'
import { percent } from '../format.ts'
import './bars.css'

/** Column of a bar chart, which leads to what it counts. */
export interface Bar {
  key: string
  /** Says the bar in words: its name and value. */
  label: string
  value: number
  href: string
  /** True for a bar that needs attention. */
  marked?: boolean
  /** Part of the value that failed, 0–1. */
  failed?: number
}

/**
 * Bars of one measure side by side, each a link to its rows. Arrow keys move between them.
 *
 * @param line a limit, drawn across the bars
 * @param onBrush called with the ends of a range of bars that is chosen by dragging, or by Shift with arrow keys and Enter
 */
export function BarLinks(props: {
  label: string
  bars: readonly Bar[]
  line?: number | undefined
  onBrush?: (first: Bar, last: Bar) => void
}) {
  const { label, bars, line, onBrush } = props
  const list = useRef<HTMLOListElement>(null)
  const [place, setPlace] = useState(Number.POSITIVE_INFINITY)
  /** Bar at which a range begins, which ends at the current one. */
  const [anchor, setAnchor] = useState<number | null>(null)
  const most = Math.max(line ?? 0, ...bars.map(({ value }) => value), Number.MIN_VALUE)
  const current = Math.min(place, bars.length - 1)
  const [first, last] = [Math.min(anchor ?? current, current), Math.max(anchor ?? current, current)]
  const ends = first < last ? [bars[first], bars[last]] : null

  const finish = () => {
    setAnchor(null)
    if (ends?.[0] && ends[1]) onBrush?.(ends[0], ends[1])
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -bars.length, End: bars.length }[event.key]
    if (event.key === 'Escape') setAnchor(null)
    if (event.key === 'Enter' && ends) {
      event.preventDefault()
      finish()
    }
    if (by === undefined) return
    event.preventDefault()
    const to = Math.max(0, Math.min(bars.length - 1, current + by))
    setAnchor(onBrush && event.shiftKey ? (anchor ?? current) : null)
    setPlace(to)
    list.current?.querySelectorAll('a')[to]?.focus()
  }
  const barAt = ({ clientX }: PointerEvent) => {
    const { left, width } = list.current?.getBoundingClientRect() ?? { left: 0, width: 1 }
    return Math.max(0, Math.min(bars.length - 1, Math.floor((bars.length * (clientX - left)) / width)))
  }
  const pointer = onBrush && {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return
      setPlace(barAt(event))
      setAnchor(barAt(event))
    },
    onPointerMove(event: PointerEvent) {
      if (anchor === null || event.buttons === 0 || barAt(event) === current) return
      list.current?.setPointerCapture(event.pointerId)
      setPlace(barAt(event))
    },
    onPointerUp: finish,
    onPointerCancel: () => setAnchor(null),
  }
  return (
    <>
      <ol
        ref={list}
        class={`bar-links ${onBrush ? 'brush' : ''}`}
        aria-label={label}
        onKeyDown={onKeyDown}
        {...pointer}
      >
        {bars.map(({ key, label: words, value, href, marked, failed = 0 }, at) => (
          <li key={key} class={ends && at >= first && at <= last ? 'chosen' : undefined}>
            <a
              href={href}
              title={words}
              aria-label={words}
              class={marked ? 'marked' : undefined}
              tabIndex={at === current ? 0 : -1}
              draggable={false}
              onFocus={() => setPlace(at)}
            >
              <span style={{ height: `${(100 * value) / most}%`, '--failed': percent(failed) }} />
            </a>
          </li>
        ))}
        {line !== undefined && <li class="limit" aria-hidden="true" style={{ bottom: `${(100 * line) / most}%` }} />}
      </ol>
      {onBrush && (
        <p class="hint" role="status">
          {ends
            ? `From ${ends[0]?.label} to ${ends[1]?.label}`
            : 'Drag over bars to choose a time, or press Shift with an arrow key, then Enter.'}
        </p>
      )}
    </>
  )
}

/** Parts of a whole in one bar, in words for screen readers. @param of width of the whole bar, in the unit of the parts */
export function PartsBar({
  parts,
  of,
  label,
}: {
  parts: readonly { name: string; value: number }[]
  of: number
  label: string
}) {
  return (
    <span class="parts" role="img" aria-label={label} title={label}>
      {parts.map(({ name, value }) => (
        <i key={name} class={name} style={{ width: `${of === 0 ? 0 : (100 * value) / of}%` }} />
      ))}
    </span>
  )
}
