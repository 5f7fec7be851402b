import type { Measure } from '../../bench/measure.ts'
import { readResults, type SectionName } from '../../bench/results.ts'
import { COLOURS, escaped, type Scheme, svg } from './scheme.ts'

/** A picture of some figures of the bench: `what` are rows of a section's results. */
export interface BarsOf {
  title: string
  rows: ReadonlyArray<{ says: string; section: SectionName; what: string }>
}

const WIDTH = 816
const MARGIN = 18
const BAR = { x: 330, width: 250, height: 14, step: 20 }
const HEAD = 44
const BETWEEN = 16

/**
 * Draws figures of the bench beside those of others in the same run. Each row has a scale of its own, from 0.
 *
 * @throws Error when the results have no such row
 */
export function barsPicture({ title, rows }: BarsOf, scheme: Scheme): string {
  const { quiet, accent, others } = COLOURS[scheme]
  let y = HEAD
  const drawn = rows.flatMap(({ says, section, what }) => {
    const { unit, bars } = figuresOf(section, what)
    const most = Math.max(...bars.map(({ figure }) => figure))
    const top = y
    y += bars.length * BAR.step + BETWEEN
    return [
      `<text x="${MARGIN}" y="${top + 11}">${escaped(says)}</text>`,
      ...bars.flatMap(({ name, figure }, i) => {
        const at = top + i * BAR.step
        const width = Math.max(1, (BAR.width * figure) / most)
        return [
          `<rect x="${BAR.x}" y="${at}" width="${width.toFixed(1)}" height="${BAR.height}" rx="2" fill="${i === 0 ? accent : others}"/>`,
          `<text x="${(BAR.x + width + 8).toFixed(1)}" y="${at + 11}" style="fill:${quiet}">${escaped(`${shown(figure)} ${unit} ${name}`)}</text>`,
        ]
      }),
    ]
  })
  const heading = `<text x="${MARGIN}" y="27" style="font-weight:600">${escaped(title)}</text>`
  return svg({ width: WIDTH, height: y + 4 }, scheme, title, [heading, ...drawn], 'text{font-size:13px}')
}

function figuresOf(section: SectionName, what: string): { unit: string; bars: { name: string; figure: number }[] } {
  const found = readResults(section)?.measures.filter((one) => one.what === what) ?? []
  const [first] = found
  if (!first) throw new Error(`The results of ${section} have no row "${what}": name another in scripts/docs/pages.ts.`)
  const peers = found.flatMap(({ against, besides = [] }: Measure) => [...(against ? [against] : []), ...besides])
  const bars = [{ name: 'Gazeway', figure: first.figure }, ...peers.map(({ what: name, figure }) => ({ name, figure }))]
  return { unit: first.unit, bars }
}

function shown(figure: number): string {
  return figure >= 100 ? Math.round(figure).toLocaleString('en-US') : String(Number(figure.toPrecision(3)))
}
