import { type RawBuilder, sql } from 'kysely'
import type { MemoryRow } from '../../store/tables/memory-tables.ts'

/** Place of a memory: a key of a namespace and a project in a space. A null project is none. */
export type Place = Pick<MemoryRow, 'space' | 'namespace' | 'key' | 'project'>

/** SQL condition: a memory or a version is kept at a place. It has the form of the index, which treats null as ''. */
export const isAt = ({ space, namespace, key, project }: Place): RawBuilder<boolean> =>
  sql<boolean>`(space = ${space} and namespace = ${namespace} and key = ${key} and coalesce(project, '') = ${project ?? ''})`

/** Names a place in a message. */
export const describePlace = ({ namespace, key, project }: Omit<Place, 'space'>): string =>
  `${JSON.stringify(key)} in ${JSON.stringify(namespace)}${project === null ? '' : ` of the project ${JSON.stringify(project)}`}`
