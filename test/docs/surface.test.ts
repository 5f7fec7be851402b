import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { program } from '../../adapters/command/program.ts'
import { pagesOf } from '../../scripts/docs/links.ts'
import { platformRoutes } from '../../scripts/docs/route-list.ts'

/** The pages that speak of this version; the changelog speaks of earlier ones too. */
const PAGES = pagesOf('.').filter((page) => page !== 'CHANGELOG.md')
const TEXTS = PAGES.map((page) => ({ page, text: readFileSync(page, 'utf8') }))
const SOURCES = ['src', 'adapters', 'tools'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8')),
)

/** The distinct headers that some texts name. */
function headersIn(texts: readonly string[]): string[] {
  const matches = texts.flatMap((text) => text.toLowerCase().match(/x-gazeway-[a-z-]*[a-z]/g) ?? [])
  return [...new Set(matches)].sort()
}

type Commands = typeof program
const withSubcommands = (command: Commands): Commands[] => [command, ...command.commands.flatMap(withSubcommands)]

/** A route without the names of its parameters, as a page may fill them in: `/api/keys/{id}`, `/api/keys/ID`. */
const unnamed = (path: string) => path.replace(/\{[^}]*\}|(?<=\/)(?:[A-Z]{2,}|\d{4}-\d\d)(?=\/|$)/g, '{}')

describe('the documentation and the code', () => {
  it('have the same headers of Gazeway', () => {
    const sent = headersIn(SOURCES)
    assert.ok(sent.length > 5, String(sent))
    assert.deepEqual(headersIn(TEXTS.map(({ text }) => text)), sent)
  })

  it('have commands to paste as they are, without a prompt (transcripts, `console`, have one)', () => {
    const blocks = TEXTS.flatMap(({ page, text }) =>
      [...text.matchAll(/^```(?:sh|bash|shell)\n([\s\S]*?)^```$/gm)].map(([, lines = '']) => ({ page, lines })),
    )
    assert.ok(blocks.length > 100, `${blocks.length} blocks`)
    const prompted = blocks.filter(({ lines }) =>
      /^\s*[$%>❯]\s+(?:\w+=\S+ )*(?:gazeway|npm|npx|git|curl|claude)\b/m.test(lines),
    )
    assert.deepEqual(prompted, [])
  })

  it('show no flag that no command has', () => {
    const flags = new Set([
      '--help',
      ...withSubcommands(program).flatMap(({ options }) => options.map(({ long }) => long)),
    ])
    assert.ok(flags.size > 70)
    // A command of Gazeway begins a line, a block of code or a word of a shell.
    const command = /(?<=^|`|\$ |\$\(|&& |\|\| |[A-Z_]+=\S+ )gazeway (?:[^`|\n]|\\\n)*/gm
    const shown = TEXTS.flatMap(({ page, text }) =>
      [...text.matchAll(command)].flatMap(([line]) =>
        [...line.matchAll(/(?<=\s)--[a-z][\w-]*/g)].map(([flag]) => ({ page, flag })),
      ),
    )
    assert.ok(shown.length > 100, `${shown.length} flags are shown`)
    assert.deepEqual(
      shown.filter(({ flag }) => !flags.has(flag)),
      [],
    )
  })

  it('name no route of the platform that it does not have', () => {
    const routes = new Set(
      platformRoutes().flatMap(({ path, methods }) => methods.map((method) => `${method} ${unnamed(path)}`)),
    )
    assert.ok(routes.size > 100)
    // The agent gateway behind the platform has routes of its own; /api/hello is of the model gateway.
    const named = TEXTS.filter(({ page }) => page.startsWith('docs') && !page.endsWith('agent-gateway.md')).flatMap(
      ({ page, text }) =>
        [...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/api\/[\w/{}-]*[\w}])/g)].map(([, method, path = '']) => ({
          page,
          route: `${method} ${unnamed(path)}`,
        })),
    )
    assert.ok(named.length > 100, `${named.length} routes are named`)
    assert.deepEqual(
      named.filter(({ route }) => !routes.has(route) && route !== 'GET /api/hello'),
      [],
    )
  })

  it('say when and for which version others were looked at and figures were measured', () => {
    const [major = 0, minor = 0] = JSON.parse(readFileSync('package.json', 'utf8')).version.split('.').map(Number)
    for (const page of ['comparison', 'compatibility']) {
      const text = readFileSync(`docs/reference/${page}.md`, 'utf8')
      const [, date = '', ...version] = /on (20\d\d-\d\d-\d\d) for Gazeway (\d+)\.(\d+)\.\d+/.exec(text) ?? []
      assert.ok(Date.parse(date) <= Date.now(), `${page}: ${date}`)
      const [ofMajor = 1e9, ofMinor = 1e9] = version.map(Number)
      assert.ok(ofMajor < major || (ofMajor === major && ofMinor <= minor), `${page}: ${version}`)
    }
    const tables = readFileSync('docs/benchmarks.md', 'utf8').split('generated:start from bench/results').slice(1)
    const measured = tables.filter((table) => !table.includes('Not measured yet'))
    assert.ok(measured.length > 15, `${measured.length} of ${tables.length}`)
    for (const table of measured) assert.match(table, /^20\d\d-\d\d-\d\d, commit [0-9a-f]{7}(?:-dirty)?, .*Node v\d+/m)
  })
})
