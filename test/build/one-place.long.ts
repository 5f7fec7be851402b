import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, it } from 'node:test'
import { build } from 'esbuild'
import { bundleTests } from '../../scripts/bundle-tests.ts'
import { openStore } from '../../src/store/open-store.ts'
import { RECORD_TABLES, TABLES } from '../../src/store/schema.ts'

/** Additions to a copy of the sources, each in one place: its file, the text before which it stands, and itself. */
const ADDITIONS: ReadonlyArray<readonly [file: string, before: string, added: string]> = [
  [
    'src/text/period.ts',
    '  total: {',
    `  quarter: {
      bounds: (day) => {
        const first = Math.floor(day.getUTCMonth() / 3) * 3
        return [Date.UTC(day.getUTCFullYear(), first, 1), Date.UTC(day.getUTCFullYear(), first + 3, 1)]
      },
      each: 'per quarter',
      current: 'this quarter',
      note: null,
    },\n`,
  ],
  ['src/calls/call-status.ts', '  aborted: {', "  expired: { counts: 'error', isOvertaken: false, tone: 'bad' },\n"],
  [
    'src/errors.ts',
    '  invalid_json: {',
    "  without_page: { status: 418, type: 'invalid_request_error', kept: true },\n",
  ],
  [
    'src/errors.ts',
    '} as const satisfies Record<string, CodeRecord>',
    "  without_flag: { status: 400, type: 'invalid_request_error' },\n",
  ],
  [
    'adapters/web/guards.ts',
    'hostFault, (',
    "({ 'x-scratch': it }) => (it === undefined ? null : loopFault(VIA, VIA)), ",
  ],
  ['src/store/tables/keys-tables.ts', '  name: string\n  created_at: string\n}', '  forgotten: string | null\n'],
  ['src/store/tables/keys-tables.ts', '  key_groups: KeyGroupRow', '  uncopied: AlertRow\n'],
]

/** Program that uses the additions. */
const PROBE = 'test/build/one-place-probe.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-one-place-'))
after(() => rmSync(folder, { recursive: true }))

before(async () => {
  for (const part of ['src', 'tools', 'adapters', 'package.json', 'tsconfig.json'])
    cpSync(part, join(folder, part), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction')
  for (const [file, place, added] of ADDITIONS) {
    const source = readFileSync(join(folder, file), 'utf8')
    assert.ok(source.includes(place), `${file} has ${place}`)
    writeFileSync(
      join(folder, file),
      source.replace(place, () => added + place),
    )
  }
  writeFileSync(join(folder, 'columns.ts'), await columnsAsTypes())
  const scope = { include: ['src', 'tools', 'adapters', 'columns.ts'], exclude: ['adapters/console/web'] }
  writeFileSync(join(folder, 'scratch.json'), JSON.stringify({ extends: './tsconfig.json', ...scope }))
  cpSync(PROBE, join(folder, PROBE))
  await build({ ...bundleTests([]), absWorkingDir: folder, entryPoints: { probe: PROBE }, outdir: 'bundled' })
})

it('a forgotten part of an error code or of a table does not compile', () => {
  const { stdout } = spawnSync(
    process.execPath,
    [resolve('node_modules/typescript/bin/tsc'), '-p', 'scratch.json', '--singleThreaded'],
    {
      cwd: folder,
      encoding: 'utf8',
    },
  )
  const faults = stdout.split('\n').filter((line) => line.includes('error TS'))
  const expected = [
    // The code without a page.
    /^adapters\/web\/error-guidance\.ts.*without_/,
    // The code that does not say whether its reply is replayed.
    /^src\/errors\.ts.*kept/,
    // Tables whose row type and migrations differ.
    /^columns\.ts.*Type '"key_groups" \| "uncopied"'/,
    // The writer of a row that leaves out a column.
    /^src\/identity\/groups\.ts.*'forgotten'/,
    // The table that copies of a store would leave out.
    /^src\/store\/schema\.ts.*uncopied/,
    // The table of which nothing says how long its rows stay.
    /^src\/store\/table-retention\.ts.*'uncopied'/,
  ]
  for (const fault of expected)
    assert.ok(
      faults.some((line) => fault.test(line)),
      `${fault}\n${stdout}`,
    )
  const others = faults.filter((line) => !expected.some((fault) => fault.test(line)))
  // Readers of the code without the flag.
  assert.deepEqual(
    others.filter((line) => !line.includes('kept')),
    [],
  )
})

it('a period is enforced, a status counted, and a guard holds on both lanes, from one place', () => {
  const args = [join(folder, 'bundled/probe.js'), join(folder, 'probe.db')]
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.deepEqual(JSON.parse(stdout), {
    period: {
      refused: 'budget_reached',
      spent: { day: 0, week: 0, month: 0, quarter: 850, total: 850 },
      flag: [{ usd: 5, per: 'quarter' }],
      shown: ['day_usd', 'week_usd', 'month_usd', 'quarter_usd', 'total_usd'],
    },
    status: { accepted: true, error_rate: 0.5 },
    guard: { statuses: { '/lane': [200, 508], '/router': [200, 508] }, taken: 1 },
  })
})

/** Source of a type with the tables of a fresh store, which names the tables whose row type differs. */
async function columnsAsTypes(): Promise<string> {
  const store = await openStore(`sqlite:${join(folder, 'fresh.db')}`)
  const tables = await store.db.introspection.getTables()
  await store.close()
  const kinds: Readonly<Record<string, string>> = {
    TEXT: 'string',
    INTEGER: 'number',
    REAL: 'number',
    BLOB: 'Uint8Array',
  }
  const keys: Readonly<Record<string, readonly string[]>> = RECORD_TABLES
  const found = tables
    .filter(({ name }) => TABLES.includes(name))
    .map(({ name, columns }) => {
      // SQLite calls the columns of a primary key nullable.
      const isNull = (column: (typeof columns)[number]) => column.isNullable && !keys[name]?.includes(column.name)
      const rows = columns.map(
        (column) => `${column.name}: ${kinds[column.dataType]}${isNull(column) ? ' | null' : ''}`,
      )
      return `  ${name}: { ${rows.join('; ')} }\n`
    })
  return `import type { Selectable } from 'kysely'
import type { Schema } from './src/store/schema.ts'
type Kind<T> = T extends string ? string : T extends number ? number : T extends Uint8Array ? Uint8Array : T
type Described = { [T in keyof Schema]: { [C in keyof Selectable<Schema[T]>]: Kind<Selectable<Schema[T]>[C]> } }
interface Found {
${found.join('')}}
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? ([keyof A] extends [keyof B] ? true : false) : false) : false
type Name = keyof Found | keyof Described
type Fault<T> = T extends keyof Found & keyof Described ? (Same<Found[T], Described[T]> extends true ? never : T) : T
export const none = (differing: { [T in Name]: Fault<T> }[Name]): never => differing
`
}
