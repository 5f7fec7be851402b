import type { Kysely } from 'kysely'
import { toUtc } from '../../store/dates.ts'
import type { Schema } from '../../store/schema.ts'
import type { MemorySearch } from '../records/memory-record.ts'
import { totals } from '../records/memory-totals.ts'
import type { Caller } from '../records/trusted-writers.ts'
import type { TextFilter } from '../words/text-matcher.ts'
import type { SearchScope } from './memory-search.ts'

/** Filters of a search. `trustedBy`: see `TextFilter`. */
export type Filters = Omit<MemorySearch, 'query' | 'limit' | 'project'> &
  Pick<TextFilter, 'project'> & { trustedBy?: Caller | undefined }

/** Returns the part of a space that a search covers, and the totals of the space. */
export async function scopeOf(db: Kysely<Schema>, space: number, filters: Filters, now: string): Promise<SearchScope> {
  const { namespace, tags, from, to, trustedBy } = filters
  const all = await totals(db, now, space)
  const sum = (of: 'memories' | 'words') => all.reduce((total, row) => total + row[of], 0)
  const held = sum('memories')
  const inside = all.find((row) => row.namespace === namespace)?.memories ?? 0
  const scope = namespace === undefined ? undefined : { name: namespace, share: inside / Math.max(1, held) }
  const project = projectOf(filters)
  const filter = { space, now, namespace: scope, project, tags, from: utc(from), to: utc(to), trustedBy }
  return { filter, held, averageWords: sum('words') / Math.max(1, held) }
}

/** The projects that a search covers, as in `TextFilter`. */
export const projectOf = ({ project = null, projects }: Filters): TextFilter['project'] =>
  projects === 'all' ? undefined : project

const utc = (at: string | undefined) => (at === undefined ? undefined : toUtc(at))
