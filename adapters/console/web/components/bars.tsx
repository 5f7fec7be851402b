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
}

/** Bars of one measure side by side, each a link to its rows. @param line a limit, drawn across the bars */
export function BarLinks({ label, bars, line }: { label: string; bars: readonly Bar[]; line?: number | undefined }) {
  const most = Math.max(line ?? 0, ...bars.map(({ value }) => value), Number.MIN_VALUE)
  return (
    <ol class="bar-links" aria-label={label}>
      {bars.map(({ key, label: words, value, href, marked }) => (
        <li key={key}>
          <a href={href} title={words} aria-label={words} class={marked ? 'marked' : undefined}>
            <span style={{ height: `${(100 * value) / most}%` }} />
          </a>
        </li>
      ))}
      {line !== undefined && <li class="limit" aria-hidden="true" style={{ bottom: `${(100 * line) / most}%` }} />}
    </ol>
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
