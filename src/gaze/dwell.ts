import { resolve } from 'node:path'
import { type Kysely, sql, type Transaction } from 'kysely'
import { hourOf } from '../store/dates.ts'
import { runBuiltRows } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import type { GazeDwellRow } from '../store/tables/gaze-tables.ts'
import { endOf } from './scanpath.ts'
import type { GazeTensor } from './tensor.ts'

/** Newest rows (one place in one hour) that are summed. Bounds the work for any length of history. */
const NEWEST_ROWS = 10_000
/** Smallest region of a file, in lines: about what an eye takes in with a few fixations. */
const REGION_LINES = 10

/** Attention that one place had, summed over its visits. */
export interface PlaceDwell {
  /** Absolute, or relative when the project is unknown. */
  path: string
  /** First and last line of the region, from 1, both included; null when only the file is known. */
  line_start: number | null
  line_end: number | null
  dwell_ms: number
  /** RFC 3339, UTC. */
  last_seen_at: string
  visits: number
}

/** Range and limit of a query for attention. */
export interface DwellQuery {
  /**
   * Absolute path of a project. Its own paths count, and relative paths of no known project, as a browser sends them.
   */
  root: string
  /** RFC 3339 UTC. The hour that contains it counts in full. */
  since: string
  /** Maximum number of places to return, the latest seen first. */
  limit: number
}

/**
 * Sums the attention of tensors by hour and place, with lines rounded to regions (`regionOf`). Each change of place
 * begins a visit.
 *
 * @param tensors of one session, in order of time
 * @param before the session's last place so far, from `placeKey`
 */
export function sumDwell(tensors: readonly GazeTensor[], before: string | null): GazeDwellRow[] {
  const rows = new Map<string, GazeDwellRow>()
  let last = before
  for (const tensor of tensors) {
    const place = placeKey(tensor)
    const arrived = place !== last
    last = place
    if (place === null || tensor.env.path === undefined) continue
    const hour = hourOf(tensor.at)
    const seen = new Date(endOf(tensor)).toISOString()
    const row = rows.get(`${hour} ${place}`) ?? {
      hour,
      path: tensor.env.path,
      ...regionOf(tensor),
      dwell_ms: 0,
      visits: 0,
      last_seen_at: seen,
    }
    row.dwell_ms += tensor.dwell_ms
    row.visits += arrived ? 1 : 0
    if (seen > row.last_seen_at) row.last_seen_at = seen
    rows.set(`${hour} ${place}`, row)
  }
  return [...rows.values()]
}

/** Tells whether a path is relative, on any operating system. */
export const isRelative = (path: string): boolean => !/^(?:[\\/]|.:)/.test(path)

/** Makes the relative paths of tensors absolute, under the project `root`. */
export function placedIn(root: string, tensors: readonly GazeTensor[]): GazeTensor[] {
  return tensors.map((tensor) => {
    const { path } = tensor.env
    if (path === undefined || !isRelative(path)) return tensor
    return { ...tensor, env: { ...tensor.env, path: resolve(root, path) } }
  })
}

/** The file and region of a tensor as one string; null when it names no file. */
export function placeKey(tensor: GazeTensor): string | null {
  if (tensor.env.path === undefined) return null
  const { line_start, line_end } = regionOf(tensor)
  return JSON.stringify([tensor.env.path, line_start, line_end])
}

/**
 * Widens the lines of a tensor to whole steps of 10 lines. Ranges of more than four steps use steps of 20, 40, 80 and
 * so on. Similar ranges become one region, and a file has few of them. Both ends are 0 when the tensor names no lines.
 */
function regionOf({ env }: GazeTensor): Pick<GazeDwellRow, 'line_start' | 'line_end'> {
  const { line_start: first, line_end: last = first } = env
  if (first === undefined || last === undefined) return { line_start: 0, line_end: 0 }
  const steps = Math.max(0, Math.ceil(Math.log2((last - first + 1) / (4 * REGION_LINES))))
  const step = REGION_LINES * 2 ** steps
  return { line_start: Math.floor((first - 1) / step) * step + 1, line_end: Math.ceil(last / step) * step }
}

/** Adds sums to the stored ones. Rows are written in sorted order, so that two sessions never deadlock. */
export async function addDwell(trx: Transaction<Schema>, sums: readonly GazeDwellRow[]): Promise<void> {
  await runBuiltRows(trx, 'add gaze dwell', [...sums].sort(byKey), (part) =>
    trx
      .insertInto('gaze_dwell')
      .values(part)
      .onConflict((conflict) =>
        conflict.columns(['hour', 'path', 'line_start', 'line_end']).doUpdateSet({
          dwell_ms: sql`gaze_dwell.dwell_ms + excluded.dwell_ms`,
          visits: sql`gaze_dwell.visits + excluded.visits`,
          last_seen_at: sql`case when excluded.last_seen_at > gaze_dwell.last_seen_at
            then excluded.last_seen_at else gaze_dwell.last_seen_at end`,
        }),
      )
      .compile(),
  )
}

/**
 * Sums the attention by place in a project, the latest seen first. Reads at most the newest 10,000 rows (one place in
 * one hour), so that the cost does not grow with the history.
 *
 * @param until end of the range; later hours lie in the future and do not count
 */
export async function readDwell(db: Kysely<Schema>, query: DwellQuery, until: Date): Promise<PlaceDwell[]> {
  const root = query.root.replace(/(?<![\\/])[\\/]+$/, '')
  const newest = db
    .selectFrom('gaze_dwell')
    .selectAll()
    .where('hour', '>=', hourOf(query.since))
    .where('hour', '<=', until.toISOString())
    .where(({ eb, or, and }) =>
      or([
        and([eb('path', '>=', `${root}/`), eb('path', '<', `${root}0`)]),
        and([eb('path', '>=', `${root}\\`), eb('path', '<', `${root}]`)]),
        eb('path', '=', query.root),
        and([eb(sql`substr(path, 1, 1)`, 'not in', ['/', '\\']), eb(sql`substr(path, 2, 1)`, '<>', ':')]),
      ]),
    )
    .orderBy('hour', 'desc')
    .limit(NEWEST_ROWS)
  const rows = await db
    .selectFrom(newest.as('newest'))
    .select(({ fn }) => [
      'path',
      'line_start',
      'line_end',
      fn.sum<number>('dwell_ms').as('dwell_ms'),
      fn.sum<number>('visits').as('visits'),
      fn.max('last_seen_at').as('last_seen_at'),
    ])
    .groupBy(['path', 'line_start', 'line_end'])
    .orderBy('last_seen_at', 'desc')
    .limit(query.limit)
    .execute()
  return rows.map((row) => ({
    path: row.path,
    line_start: row.line_start || null,
    line_end: row.line_end || null,
    dwell_ms: Number(row.dwell_ms),
    last_seen_at: row.last_seen_at,
    visits: Number(row.visits),
  }))
}

function byKey(a: GazeDwellRow, b: GazeDwellRow): number {
  if (a.hour !== b.hour) return a.hour < b.hour ? -1 : 1
  if (a.path !== b.path) return a.path < b.path ? -1 : 1
  return a.line_start - b.line_start || a.line_end - b.line_end
}
