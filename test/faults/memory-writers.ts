import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { createMemory } from '../../src/memory/memory.ts'
import { openStore } from '../../src/store/open-store.ts'
import { bundledProgram } from '../doubles/bundled-program.ts'

/** A folder for the stores of one test file. */
export const folder = mkdtempSync(join(tmpdir(), 'gazeway-faults-'))
const WRITER = bundledProgram(fileURLToPath(new URL('memory-writer.ts', import.meta.url)))
const running = new Set<ChildProcess>()
after(() => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

/** A process that writes memories; `acknowledged` grows with each key that it printed. */
export function write(url: string, name: string, count: number) {
  const child = spawn(process.execPath, [WRITER, url, name, `${count}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const acknowledged: string[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (key) => acknowledged.push(key))
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child)
    return { code, complaints, acknowledged }
  })
  return { child, lines, acknowledged, ended }
}

/** Checks the store in a new process: it must open, be intact and consistent. */
export async function inspect(url: string) {
  const store = await openStore(url)
  const memory = createMemory({ store, now: () => new Date() })
  const { rows: checks } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(store.db)
  assert.deepEqual(checks, [{ integrity_check: 'ok' }])
  await sql`insert into memories_text (memories_text, rank) values ('integrity-check', 1)`.execute(store.db)
  await sql`insert into memories_project_text (memories_project_text) values ('integrity-check')`.execute(store.db)
  const rows = await store.db.selectFrom('memories').select(['key', 'version', 'bytes']).execute()
  const { count, bytes } = await memory.stats()
  assert.equal(count, rows.length)
  assert.equal(
    bytes,
    rows.reduce((sum, row) => sum + row.bytes, 0),
  )
  await store.close()
  return new Map(rows.map((row) => [row.key, row.version]))
}

/** Number of concurrent writers that are killed, so that one leaves a journal. */
const TOGETHER = 4

/** Kills writers (SIGKILL) in the middle of writing to one store, again and again, and looks for what they acknowledged. */
export async function killWriters(kills: number): Promise<void> {
  const url = `sqlite:${join(folder, 'killed', 'store.db')}`
  const acknowledged: string[] = []
  async function killOne(name: string, acks: number) {
    const writer = write(url, name, 100_000)
    writer.lines.on('line', () => {
      if (writer.acknowledged.length >= acks) writer.child.kill('SIGKILL')
    })
    const { code, complaints } = await writer.ended
    assert.deepEqual({ code, complaints }, { code: null, complaints: '' })
    acknowledged.push(...writer.acknowledged)
  }
  const some = () => 1 + Math.floor(Math.random() * 25)
  for (let round = 0; round < kills / TOGETHER; round++)
    await Promise.all(Array.from({ length: TOGETHER }, (_, i) => killOne(`round${round}/${i}`, some())))
  assert.ok(acknowledged.length >= kills)
  const kept = await inspect(url)
  assert.deepEqual(
    acknowledged.filter((key) => !kept.has(key)),
    [],
  )
  assert.ok((kept.get('shared') ?? 0) >= acknowledged.length)
}
