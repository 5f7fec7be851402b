import { Graph, layout } from '@dagrejs/dagre'
import { BOX } from './graph-box.ts'

const GAPS = { nodesep: 24, ranksep: 56, marginx: 8, marginy: 8 }

/** Positions of boxes and lines in pixels. */
export interface Layout {
  width: number
  height: number
  boxes: { id: string; x: number; y: number }[]
  /** Edges; `path` is the `d` attribute of an SVG path. */
  lines: { from: string; to: string; path: string }[]
}

/**
 * Lays out a graph in ranks: from left to right if that fits, else from top to bottom.
 *
 * @param edges `[from, to]`
 * @param room available width, in pixels
 */
export function layOut(ids: readonly string[], edges: readonly (readonly [string, string])[], room: number): Layout {
  const across = ranked('LR', ids, edges)
  if (across.width <= room) return across
  const down = ranked('TB', ids, edges)
  return down.width < across.width ? down : across
}

function ranked(rankdir: 'LR' | 'TB', ids: readonly string[], edges: readonly (readonly [string, string])[]): Layout {
  const graph = new Graph()
  graph.setGraph({ rankdir, ...GAPS })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const id of ids) graph.setNode(id, { ...BOX })
  for (const [from, to] of edges) graph.setEdge(from, to)
  layout(graph)
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  return {
    width: Math.ceil(width),
    height: Math.ceil(height),
    boxes: ids.map((id) => {
      const { x, y } = graph.node(id) as { x: number; y: number }
      return { id, x: Math.round(x - BOX.width / 2), y: Math.round(y - BOX.height / 2) }
    }),
    lines: graph.edges().map((edge) => {
      const { points } = graph.edge(edge) as { points: { x: number; y: number }[] }
      return { from: edge.v, to: edge.w, path: curve(points) }
    }),
  }
}

/** Smooth path through the midpoints between points. */
function curve(points: readonly { x: number; y: number }[]): string {
  const at = ({ x, y }: { x: number; y: number }) => `${x.toFixed(1)} ${y.toFixed(1)}`
  const [first, ...rest] = points
  const last = rest.at(-1)
  if (!first || !last) return ''
  const bends = rest.slice(0, -1).map((point, i) => {
    const next = rest[i + 1] ?? last
    const end = next === last ? last : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 }
    return `Q${at(point)} ${at(end)}`
  })
  return bends.length === 0 ? `M${at(first)}L${at(last)}` : `M${at(first)}${bends.join('')}`
}
