import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { MemoryRow } from '../../store/tables/memory-tables.ts'

/** Place of a memory: a key of a namespace and a project in a space. A null project is none. */
export type Place = Pick<MemoryRow, 'space' | 'namespace' | 'key' | 'project'>

/** SQL condition: a memory or a version is kept at a place. It has the form of the index, which treats null as ''. */
export const isAt = ({ space, namespace, key, project }: Place): RawBuilder<boolean> =>
  sql<boolean>`(space = ${space} and namespace = ${namespace} and key = ${key} and coalesce(project, '') = ${project ?? ''})`

/** SQL condition: a memory or a version has a tag. */
export const hasTag = (tag: string): RawBuilder<boolean> =>
  sql<boolean>`(replace(tags, ${JSON.stringify(tag)}, '') <> tags)`

/** Names a place in a message. */
export const describePlace = ({ namespace, key, project }: Omit<Place, 'space'>): string =>
  `${JSON.stringify(key)} in ${JSON.stringify(namespace)}${project === null ? '' : ` of the project ${JSON.stringify(project)}`}`

/** Says for a message that a key is one of no project, which was looked for in a project; else an empty text. */
export async function generalNote(trx: Transaction<Schema>, place: Place): Promise<string> {
  if (place.project === null) return ''
  const general = trx
    .selectFrom('memories')
    .select('version')
    .where(isAt({ ...place, project: null }))
  const found = await general.executeTakeFirst()
  return found ? ` One of no project has this key, at version ${found.version}: project null means that one.` : ''
}

/** Address of one memory. Without a project, it is one of no project. */
export interface MemoryAddress {
  key: string
  namespace: string
  project?: string | null | undefined
}

/** A query for memories of one project, of several, or of no project (null or none). */
export type InProjects<Query> = Omit<Query, 'project'> & { project?: string | readonly string[] | null | undefined }
