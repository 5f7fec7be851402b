import { type RawBuilder, sql } from 'kysely'
import { isTrustedBy } from '../records/trusted-writers.ts'
import type { TextFilter } from './text-matcher.ts'

/** Converts a filter into SQL conditions on `memories`, without the words. */
export function filterConditions({
  namespace,
  project,
  tags = [],
  from,
  to,
  trustedBy,
}: TextFilter): Array<RawBuilder<unknown>> {
  const conditions: Array<RawBuilder<unknown>> = tags.map(
    (tag) => sql`exists (select 1 from memory_tags where seq = memories.seq and tag = ${tag})`,
  )
  conditions.push(...inProjects(project))
  if (namespace) conditions.push(sql`memories.namespace = ${namespace.name}`)
  if (from !== undefined) conditions.push(sql`memories.updated_at >= ${from}`)
  if (to !== undefined) conditions.push(sql`memories.updated_at <= ${to}`)
  if (trustedBy) conditions.push(isTrustedBy(trustedBy))
  return conditions
}

/** Condition on `memories`: see `TextFilter.project`. None for all projects. */
function inProjects(project: TextFilter['project']): Array<RawBuilder<unknown>> {
  if (project === undefined) return []
  const projects = [project ?? []].flat()
  if (projects.length === 0) return [sql`memories.project is null`]
  return [sql`(memories.project is null or memories.project in (${sql.join(projects)}))`]
}
