import { COLOURS, escaped, type Scheme, svg } from './scheme.ts'

/** A place of a work context, as `gateway_get_context` answers with it. */
export interface TreePlace {
  path: string
  kind: string
  weight: number
  why: string[]
  children?: TreePlace[]
}

const WIDTH = 816
const LINE = 26
const MARGIN = 18
const INDENT = 18
/** Columns of the bar and of the reasons. */
const BAR = { x: 220, width: 90 }
const WHY = 360

/** Draws a work context: its folders and files, with the weight of each and what it comes from. */
export function treePicture(places: readonly TreePlace[], scheme: Scheme): string {
  const { quiet, accent, edge } = COLOURS[scheme]
  const rows = places.flatMap((place) => rowsOf(place, 0))
  const drawn = rows.flatMap(({ place, depth }, i) => {
    const y = MARGIN + LINE / 2 + i * LINE
    const name = `${place.path.split('/').at(-1)}${place.kind === 'directory' ? '/' : ''}`
    const weight = place.weight.toFixed(2)
    return [
      `<text class="m" x="${MARGIN + depth * INDENT}" y="${y + 4}">${escaped(name)}</text>`,
      `<rect x="${BAR.x}" y="${y - 4}" width="${BAR.width}" height="8" rx="4" fill="${edge}"/>`,
      `<rect x="${BAR.x}" y="${y - 4}" width="${(BAR.width * place.weight).toFixed(1)}" height="8" rx="4" fill="${accent}"/>`,
      `<text x="${BAR.x + BAR.width + 8}" y="${y + 4}" style="fill:${quiet}">${weight}</text>`,
      `<text x="${WHY}" y="${y + 4}" style="fill:${quiet}">${escaped(place.why.join(' · '))}</text>`,
    ]
  })
  return svg(
    { width: WIDTH, height: rows.length * LINE + 2 * MARGIN },
    scheme,
    'A work context: folders and files with their weights and reasons',
    drawn,
    'text{font-size:13px}',
  )
}

function rowsOf(place: TreePlace, depth: number): { place: TreePlace; depth: number }[] {
  return [{ place, depth }, ...(place.children ?? []).flatMap((child) => rowsOf(child, depth + 1))]
}
