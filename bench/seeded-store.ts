import { CompiledQuery, sql } from 'kysely'
import type { Store } from '../src/store/store.ts'

/** Rows of one statement while seeding. */
const CHUNK = 50_000
const VOCABULARY = 5_000
/** Time of the first record; each is a second later than the one before. */
const START = '2026-01-01T00:00:00.000Z'

/**
 * Fills an empty store with `count` SYNTHETIC memories (`seed/1` …, 14 words of a vocabulary of 5,000, one of eight tags)
 * and as many call records with their hourly sums, written by the engine itself.
 */
export async function seedStore(store: Store, count: number): Promise<void> {
  const { numbers, time, word, text } = dialect(store)
  const value = Array.from({ length: 14 }, () => word).join(` || ' ' || `)
  const run = (statement: string) =>
    store.write((trx) => trx.executeQuery(CompiledQuery.raw(statement))).then(() => undefined)

  for (let first = 1; first <= count; first += CHUNK) {
    const rows = numbers(first, Math.min(first + CHUNK - 1, count))
    await run(`insert into memories (id, space, namespace, key, value, tags, also, bytes, words, embedded, version, created_at, updated_at, expires_at,
        key_text, value_text, tags_text, also_text)
      select 'mem_' || n, 0, 'default', 'seed/' || n, '"' || words || '"', '["tag' || (n % 8) || '"]', '[]', 100, 14, '', 1, at, at,
        null, 'seed ' || n, words, 'tag' || (n % 8), ''
      from (select n, ${time('n')} as at, ${value} as words from ${rows}) as made order by n`)
    await run(`insert into calls (call_id, at, surface, caller_id, path, requested_model, model, upstream, stream, status,
        http_status, fallback_from, latency_ms, latency_bucket, first_token_ms, prompt_tokens, completion_tokens,
        total_tokens, usage_estimated, upstream_cost_micros, error, content)
      select 'call_' || ${text('n')}, ${time('n')}, 'http', 'key_' || (n % 50), '/v1/chat/completions', 'm',
        'model-' || (n % 3), 'double', 0, 'ok', 200, null, 100, 93, null, 10, 10, 20, 0, 60, null, null
      from ${rows}`)
  }
  await run(`insert into memory_tags (seq, tag, space, namespace, updated_at)
    select seq, 'tag' || (seq % 8), 0, namespace, updated_at from memories`)
  await run(
    `insert into memory_totals (space, namespace, shard, memories, bytes, words)
      select 0, 'default', 0, count(*), sum(bytes), sum(words) from memories`,
  )
  // Those of the values alone, as often as they are drawn on average: no search of the bench looks for the others.
  await run(`insert into memory_words (space, word, stem, ending, memories)
    select 0, 'w' || n, 'w' || n, '', ${Math.round((count * 14) / VOCABULARY)} from ${numbers(0, VOCABULARY - 1)}`)
  await run(`insert into call_rollups (hour, model, caller_id, path, status, latency_bucket, calls, prompt_tokens,
      completion_tokens, total_tokens, upstream_cost_micros)
    select ${store.engine === 'sqlite' ? `substr(at, 1, 13) || ':00:00.000Z'` : `date_trunc('hour', at, 'UTC')`}, model,
      caller_id, path, status, latency_bucket, count(*), sum(prompt_tokens), sum(completion_tokens), sum(total_tokens),
      sum(upstream_cost_micros)
    from calls group by 1, 2, 3, 4, 5, 6`)
  await run(`insert into call_totals (model, caller_id, path, status, calls)
    select model, caller_id, path, status, sum(calls) from call_rollups group by 1, 2, 3, 4`)
  // As the engine itself does in time; the figures shall not depend on whether it has come to it yet.
  await sql`${sql.raw(store.engine === 'sqlite' ? 'analyze' : 'vacuum analyze')}`.execute(store.db)
}

function dialect({ engine }: Store) {
  if (engine === 'sqlite')
    return {
      numbers: (first: number, last: number) =>
        `(with recursive counted (n) as (select ${first} union all select n + 1 from counted where n < ${last})
          select n from counted) as numbers`,
      time: (n: string) => `strftime('%Y-%m-%dT%H:%M:%S.000Z', '${START}', '+' || ${n} || ' seconds')`,
      word: `'w' || (abs(random()) % ${VOCABULARY})`,
      text: (n: string) => `printf('%09d', ${n})`,
    }
  return {
    numbers: (first: number, last: number) => `generate_series(${first}, ${last}) as numbers (n)`,
    time: (n: string) => `timestamptz '${START}' + ${n} * interval '1 second'`,
    word: `'w' || floor(random() * ${VOCABULARY})::int`,
    text: (n: string) => `lpad(${n}::text, 9, '0')`,
  }
}
