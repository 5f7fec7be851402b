import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/** Agent sockets: who is connected where, and the tickets that open them. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { time, integer, text } = columns(engine)
  await sql`create table connections (
    id ${text} not null primary key,
    instance ${text} not null,
    key_id ${text} not null,
    user_name ${text} not null,
    role ${text} not null,
    session_id ${text} not null,
    remote ${text} not null,
    messages ${integer} not null,
    connected_at ${time} not null,
    last_active_at ${time} not null,
    closing_at ${time}
  )`.execute(db)
  await sql`create index connections_instance on connections (instance)`.execute(db)
  await sql`create index connections_key on connections (key_id, id)`.execute(db)
  await sql`create index connections_closing on connections (instance) where closing_at is not null`.execute(db)

  await sql`create table connection_instances (
    id ${text} not null primary key,
    alive_until ${time} not null
  )`.execute(db)
  await sql`create index connection_instances_alive on connection_instances (alive_until)`.execute(db)

  await sql`create table connection_tickets (
    id ${text} not null primary key,
    hash ${text} not null unique,
    key_id ${text} not null,
    user_name ${text} not null,
    role ${text} not null,
    expires_at ${time} not null
  )`.execute(db)
  await sql`create index connection_tickets_expiry on connection_tickets (expires_at)`.execute(db)
}
