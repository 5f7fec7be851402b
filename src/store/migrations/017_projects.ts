import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds the folders in which projects were seen, so that a project is recognized where its path has changed. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text } = columns(engine)
  await sql`create table project_places (
    path ${text} primary key,         -- real path of the folder
    project ${text} not null,         -- name, as in memories
    proposed ${text},                 -- another project that it may belong to
    common_dir ${text},               -- git's common directory
    root_commit ${text},
    remote ${text},
    file_id ${text},                  -- id in .gazeway/project
    parent ${text},                   -- checkout that it is a submodule of
    stamp ${text} not null            -- state of .git when these were read
  )`.execute(db)
  for (const column of ['project', 'common_dir', 'root_commit', 'file_id'])
    await sql`create index ${sql.ref(`project_places_by_${column}`)} on project_places (${sql.ref(column)})`.execute(db)
}
