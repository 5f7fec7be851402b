import { type Kysely, sql } from 'kysely'
import type { Engine } from '../engine.ts'

/**
 * Adds a full-text index of SQLite with the words of each project apart, so that a search of one project reads no words of
 * others. Memories of before are added in batches, later: see src/memory/words/project-words.ts. Both indexes remove what is
 * deleted at once.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  if (engine === 'postgres') return
  await sql`create virtual table memories_project_text using fts5(
    named, said, namespace, content='', columnsize=0, detail=column, tokenize='ascii'
  )`.execute(db)
  for (const index of ['memories_text', 'memories_project_text'])
    await sql`insert into ${sql.ref(index)} (${sql.ref(index)}, rank) values ('secure-delete', 1)`.execute(db)

  // Each word behind its project. The project is in hex, since the index splits words at signs.
  const named = behindProject(sql`key_text || ' ' || tags_text`)
  const said = behindProject(sql`value_text || ' ' || also_text`)
  await sql`create view memories_project_words as
    select seq, ${named} as named, ${said} as said, hex(namespace) as namespace from memories`.execute(db)

  // Memories up to this number are not in the index yet. No row: all are.
  await sql`create table memories_project_backlog (last integer primary key)`.execute(db)
  await sql`insert into memories_project_backlog select max(seq) from memories having max(seq) is not null`.execute(db)

  const changed = sql`update of project, namespace, key_text, value_text, tags_text, also_text on memories`
  const add = sql`when not exists (select 1 from memories_project_backlog where last >= new.seq) begin
    insert into memories_project_text (rowid, named, said, namespace)
      select seq, named, said, namespace from memories_project_words where seq = new.seq;
  end`
  const take = sql`when not exists (select 1 from memories_project_backlog where last >= old.seq) begin
    insert into memories_project_text (memories_project_text, rowid, named, said, namespace)
      select 'delete', seq, named, said, namespace from memories_project_words where seq = old.seq;
  end`
  await sql`create trigger memories_project_text_added after insert on memories ${add}`.execute(db)
  await sql`create trigger memories_project_text_removed before delete on memories ${take}`.execute(db)
  await sql`create trigger memories_project_text_changing before ${changed} ${take}`.execute(db)
  await sql`create trigger memories_project_text_changed after ${changed} ${add}`.execute(db)
}

/**
 * The words of a text, each behind `PROJECT·`, the last 16 bytes of the project's name in hex: a long name before each word
 * of a long text would fill the memory. The rows tell names apart that end alike. The words are separated by single spaces.
 */
function behindProject(text: ReturnType<typeof sql>) {
  const words = sql`trim(${text})`
  const before = sql`hex(substr(cast(coalesce(project, '') as blob), -16)) || '·'`
  return sql`case when ${words} = '' then '' else ${before} || replace(${words}, ' ', ' ' || ${before}) end`
}
