import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { offline } from '../api.ts'
import { BOX } from './graph-box.ts'
import type { Layout } from './graph-layout.ts'
import type { Tone } from './inline.tsx'
import { Loading } from './notes.tsx'
import './graph.css'

/** Box of a graph. */
export interface GraphNode {
  id: string
  title: string
  /** Label of its state. */
  status: string
  tone: Tone
  /** Agent that works on it. */
  note?: string | null
  href: string
}

/** Width for text in a box, in pixels, and lines of its title. */
const LINE = BOX.width - 28
const LINES = 2
/** Fonts of the text in a box, as in graph.css. */
const TITLE = '600 13px'
const STATUS = '400 12px'
/** Smallest scale at which text stays readable; larger graphs scroll. */
const LEAST_SCALE = 0.75

/**
 * Dependency graph, drawn in ranks. Each box is a link; its name tells screen readers what it waits for.
 *
 * @param edges `[from, to]`: "to" waits for "from"
 */
export function Graph(props: {
  label: string
  nodes: readonly GraphNode[]
  edges: readonly (readonly [string, string])[]
}) {
  const { nodes, edges, label } = props
  const frame = useRef<HTMLDivElement>(null)
  const [room, setRoom] = useState(0)
  const [layout, setLayout] = useState<Layout | null>(null)
  const [failed, setFailed] = useState(false)
  // Laid out again when Gazeway answers again, because the layout module may not have been loaded.
  const isOffline = offline.value
  const shape = JSON.stringify([nodes.map(({ id }) => id), edges])

  useEffect(() => {
    const element = frame.current
    if (!element) return
    const observer = new ResizeObserver(() => setRoom(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  useEffect(() => {
    if (room === 0) return
    let gone = false
    import('./graph-layout.ts').then(
      ({ layOut }) => {
        const ids = nodes.map(({ id }) => id)
        if (!gone) setLayout(layOut(ids, edges, room))
      },
      () => setFailed(true),
    )
    return () => {
      gone = true
    }
    // `shape` contains the boxes and edges that the layout depends on.
  }, [shape, room, isOffline])

  const scale = layout ? Math.min(1, Math.max(LEAST_SCALE, room / layout.width)) : 1
  useLayoutEffect(() => {
    const element = frame.current
    if (element) element.scrollLeft = (element.scrollWidth - element.clientWidth) / 2
  }, [layout])

  return (
    <div class="graph" ref={frame}>
      {layout && <Drawing label={label} nodes={nodes} edges={edges} layout={layout} scale={scale} />}
      {!layout && failed && <p class="hint">The graph could not be loaded. Reload the page.</p>}
      {!layout && !failed && <Loading what="the graph" />}
    </div>
  )
}

function Drawing(props: {
  label: string
  nodes: readonly GraphNode[]
  edges: readonly (readonly [string, string])[]
  layout: Layout
  scale: number
}) {
  const { nodes, edges, layout, scale } = props
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const waitsFor = (id: string) => edges.filter(([, to]) => to === id).flatMap(([from]) => byId.get(from)?.title ?? [])
  return (
    <svg
      role="group"
      aria-label={props.label}
      width={layout.width * scale}
      height={layout.height * scale}
      viewBox={`0 0 ${layout.width} ${layout.height}`}
    >
      <defs>
        <marker id="graph-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0L8 4L0 8z" class="arrow" />
        </marker>
      </defs>
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a g takes no focus; the label says all of it */}
      <g aria-hidden="true">
        {layout.lines.map(({ from, to, path }) => (
          <path key={`${from} ${to}`} class="edge" d={path} marker-end="url(#graph-arrow)" />
        ))}
      </g>
      {layout.boxes.map(({ id, x, y }) => {
        const node = byId.get(id)
        return node && <Box key={id} node={node} x={x} y={y} waitsFor={waitsFor(id)} />
      })}
    </svg>
  )
}

function Box({ node, x, y, waitsFor }: { node: GraphNode; x: number; y: number; waitsFor: string[] }) {
  const { title, status, tone, note, href } = node
  const lines = wrapped(title)
  const state = shortened(note ? `${status} · ${note}` : status, STATUS)
  // The accessible name begins with the visible text, as voice control expects. Hidden text follows.
  const seen = `${lines.join(' ')} ${state}`
  const whole = lines.join(' ') === title ? '' : `. ${title}`
  const waits = waitsFor.length === 0 ? '' : `, waits for ${waitsFor.join(' and ')}`
  return (
    <a href={href} class={`box ${tone}`} data-status={status} aria-label={`${seen}${whole}${waits}`}>
      <svg aria-hidden="true" x={x} y={y} {...BOX}>
        <rect x="2" y="2" width={BOX.width - 4} height={BOX.height - 4} rx="7" />
        <rect class="stripe" x="2" y="8" width="5" height={BOX.height - 16} rx="2.5" />
        <text x="16" y="23" class="title">
          {lines.map((line, i) => (
            <tspan key={i} x="16" dy={i === 0 ? 0 : 17}>
              {`${line} `}
            </tspan>
          ))}
        </text>
        <text x="16" y="64" class="status">
          {state}
        </text>
      </svg>
    </a>
  )
}

/** Breaks a title between words into the available lines. Text that does not fit is cut. */
function wrapped(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`
    if (lines.length > 0 && fits(longer, TITLE)) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  const rest = lines.splice(LINES - 1).join(' ')
  return [...lines, rest].filter(Boolean).map((line) => shortened(line, TITLE))
}

/** Cuts a text to one line. It cuts between visible characters; an emoji of several code points is one. */
function shortened(text: string, font: string): string {
  if (fits(text, font)) return text
  const characters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
  while (characters.length > 0 && !fits(`${characters.join('')}…`, font)) characters.pop()
  return `${characters.join('')}…`
}

const pen = document.createElement('canvas').getContext('2d')

/** Tells whether a text fits on a line of a box. @param font weight and size */
function fits(text: string, font: string): boolean {
  if (!pen) return true
  pen.font = `${font} ${getComputedStyle(document.body).fontFamily}`
  return pen.measureText(text).width <= LINE
}
