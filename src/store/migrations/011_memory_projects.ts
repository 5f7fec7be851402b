import { type Kysely, type RawBuilder, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/**
 * Makes a key unique within its project instead of within its namespace. A memory keeps the project that it had last;
 * earlier versions of its key join it there.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await joinVersions(db)
  if (engine === 'postgres') {
    await sql`alter table memories drop constraint memories_space_namespace_key_key`.execute(db)
    await sql`alter table memory_versions drop constraint memory_versions_pkey`.execute(db)
    await sql`alter table memory_versions add primary key (id, version)`.execute(db)
    await sql`drop index memory_versions_of_memory`.execute(db)
  } else {
    await rebuild(db, 'memories', MEMORIES)
    await rebuild(db, 'memory_versions', VERSIONS)
  }
  await sql`create unique index memories_place on memories (space, namespace, key, coalesce(project, ''))`.execute(db)
  await sql`create unique index memory_versions_place on memory_versions
    (space, namespace, key, coalesce(project, ''), version)`.execute(db)
}

/** Gives earlier versions the project of the memory, or that of the last version where it was superseded. */
async function joinVersions(db: Kysely<unknown>): Promise<void> {
  const same = (table: string) => sql`${sql.table(table)}.space = memory_versions.space
    and ${sql.table(table)}.namespace = memory_versions.namespace and ${sql.table(table)}.key = memory_versions.key`
  await sql`update memory_versions set project = case
    when exists (select 1 from memories where ${same('memories')})
      then (select project from memories where ${same('memories')})
    else (select project from memory_versions as later where ${same('later')} order by version desc limit 1)
  end`.execute(db)
}

/** Creates a table of SQLite again, which cannot drop a constraint. Its indexes and triggers go with the old one. */
async function rebuild(db: Kysely<unknown>, name: string, { shape, parts }: Rebuilt): Promise<void> {
  const [old, rebuilt] = [sql.table(name), sql.table(`${name}_rebuilt`)]
  const names = sql.join(Object.keys(shape).map((column) => sql.ref(column)))
  const described = Object.entries(shape).map(([column, type]) => sql`${sql.ref(column)} ${type}`)
  const key = name === 'memories' ? sql`` : sql`, primary key (id, version)`
  await sql`create table ${rebuilt} (${sql.join(described)}${key})`.execute(db)
  await sql`insert into ${rebuilt} (${names}) select ${names} from ${old}`.execute(db)
  // So that no number is given a second time.
  await sql`update sqlite_sequence set seq = (select seq from sqlite_sequence where name = ${sql.lit(name)})
    where name = ${sql.lit(`${name}_rebuilt`)}`.execute(db)
  await sql`drop table ${old}`.execute(db)
  await sql`alter table ${rebuilt} rename to ${old}`.execute(db)
  for (const part of parts) await part.execute(db)
}

const { text, time, integer, sequence } = columns('sqlite')

/** A table to create again: its columns, then its indexes and triggers. */
interface Rebuilt {
  shape: Readonly<Record<string, RawBuilder<unknown>>>
  parts: ReadonlyArray<RawBuilder<unknown>>
}

/** Long values stand last: what follows them is looked for in all their pages. */
const MEMORIES: Rebuilt = {
  shape: {
    seq: sequence,
    id: sql`${text} not null unique`,
    space: sql`${integer} not null`,
    project: text,
    namespace: sql`${text} not null`,
    key: sql`${text} not null`,
    tags: sql`${text} not null`,
    also: sql`${text} not null`,
    bytes: sql`${integer} not null`,
    words: sql`${integer} not null`,
    embedded: sql`${text} not null`,
    written_by: text,
    version: sql`${integer} not null`,
    created_at: sql`${time} not null`,
    updated_at: sql`${time} not null`,
    expires_at: time,
    key_text: sql`${text} not null`,
    tags_text: sql`${text} not null`,
    also_text: sql`${text} not null`,
    value: sql`${text} not null`,
    value_text: sql`${text} not null`,
  },
  parts: [
    sql`create index memories_in_space on memories (space, seq)`,
    sql`create index memories_recent on memories (space, updated_at, seq)`,
    sql`create index memories_recent_in_namespace on memories (space, namespace, updated_at, seq)`,
    sql`create index memories_recent_in_project on memories (space, project, updated_at, seq)`,
    sql`create index memories_embedded on memories (embedded, seq)`,
    sql`create index memories_expiry on memories (expires_at) where expires_at is not null`,
    sql`create index memories_expiry_in_namespace on memories (space, namespace, expires_at)
      where expires_at is not null`,
    sql`create trigger memories_text_added after insert on memories begin
      insert into memories_text (rowid, key_text, value_text, tags_text, also_text, namespace)
        values (new.seq, new.key_text, new.value_text, new.tags_text, new.also_text, new.namespace);
    end`,
    sql`create trigger memories_text_removed after delete on memories begin
      insert into memories_text (memories_text, rowid, key_text, value_text, tags_text, also_text, namespace)
        values ('delete', old.seq, old.key_text, old.value_text, old.tags_text, old.also_text, old.namespace);
    end`,
    sql`create trigger memories_text_changed after update of namespace, key_text, value_text, tags_text, also_text
      on memories begin
      insert into memories_text (memories_text, rowid, key_text, value_text, tags_text, also_text, namespace)
        values ('delete', old.seq, old.key_text, old.value_text, old.tags_text, old.also_text, old.namespace);
      insert into memories_text (rowid, key_text, value_text, tags_text, also_text, namespace)
        values (new.seq, new.key_text, new.value_text, new.tags_text, new.also_text, new.namespace);
    end`,
  ],
}

const VERSIONS: Rebuilt = {
  shape: {
    id: sql`${text} not null`,
    version: sql`${integer} not null`,
    space: sql`${integer} not null`,
    project: text,
    namespace: sql`${text} not null`,
    key: sql`${text} not null`,
    tags: sql`${text} not null`,
    also: sql`${text} not null`,
    written_by: text,
    created_at: sql`${time} not null`,
    updated_at: sql`${time} not null`,
    expires_at: time,
    superseded_by: text,
    value: sql`${text} not null`,
  },
  parts: [sql`create index memory_versions_expiry on memory_versions (expires_at) where expires_at is not null`],
}
