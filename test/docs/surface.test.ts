import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { program } from '../../adapters/command/program.ts'
import { METRICS } from '../../adapters/metrics/descriptions.ts'
import { pagesOf } from '../../scripts/docs/links.ts'
import { platformRoutes } from '../../scripts/docs/route-list.ts'
import { CONFIG_KEYS } from '../../src/config/config-keys.ts'
import { unknownVariables } from '../../src/config/unknown-variables.ts'
import { tools as offered } from '../../tools/index.ts'

/** The pages that speak of this version; the changelog speaks of earlier ones too. */
const PAGES = pagesOf('.').filter((page) => page !== 'CHANGELOG.md')
const TEXTS = PAGES.map((page) => ({ page, text: readFileSync(page, 'utf8') }))
const SOURCES = ['src', 'adapters', 'tools'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8')),
)

/** Text of the files of some folders that read the variables of measurements, examples and tests. */
const readersIn = (...folders: string[]) =>
  folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:ts|mjs|yaml)$|Caddyfile$/.test(file))
      .map((file) => readFileSync(join(folder, file), 'utf8')),
  )
/** Variables of tests, or of the workflows and scripts that run them. */
const OF_TESTS = /^GAZEWAY_(?:TEST|WRITE)_/

/** Tells whether some text reads a variable: `env.NAME`, `env['NAME']`, `const { NAME } = env`, `{$NAME}` of a Caddyfile, or by a constant. */
const reads = (texts: readonly string[], name: string): boolean => {
  const places = [
    `\\benv\\??\\.${name}\\b`,
    `\\benv\\[['"]${name}['"]\\]`,
    `\\{[^{}]*\\b${name}\\b[^{}]*\\} = (?:process\\.)?env\\b`,
    `\\{\\$${name}\\b`,
    `VARIABLE = '${name}'`,
  ]
  const read = new RegExp(places.join('|'))
  return texts.some((text) => read.test(text))
}

/** The distinct headers that some texts name. */
function headersIn(texts: readonly string[]): string[] {
  const matches = texts.flatMap((text) => text.toLowerCase().match(/x-gazeway-[a-z-]*[a-z]/g) ?? [])
  return [...new Set(matches)].sort()
}

/** The distinct names that pages have, where a pattern finds one in its first group. */
const namedBy = (pattern: RegExp, pages = TEXTS): string[] => [
  ...new Set(pages.flatMap(({ text }) => [...text.matchAll(pattern)].map(([, name = '']) => name))),
]

type Commands = typeof program
/** Words of a command after `gazeway`. */
const pathOf = (command: Commands): string =>
  command.parent === null ? '' : `${pathOf(command.parent as Commands)} ${command.name()}`.trim()
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

  it('name no command that there is not', () => {
    const commands = new Map(withSubcommands(program).map((command) => [pathOf(command), command]))
    assert.ok(commands.size > 40, `${commands.size} commands`)
    const shown = namedBy(/(?:^|`|\$ |\$\(|&& |\|\| )gazeway ([a-z][a-z-]*(?: [a-z][a-z-]*)?)/gm)
    assert.ok(shown.length > 40, `${shown.length} commands are shown`)
    const unknown = shown.filter((name) => {
      const [first = ''] = name.split(' ')
      const isGroup = (commands.get(first)?.commands.length ?? 0) > 0
      return !commands.has(isGroup ? name : first)
    })
    assert.deepEqual(unknown, [])
  })

  it('name no setting that there is not', () => {
    const keys = CONFIG_KEYS.map(({ key }) => key)
    const sections = new Set(keys.map((key) => key.split('.')[0]))
    // What tools answer has names of the same form.
    const pages = TEXTS.filter(({ page }) => page !== join('docs', 'reference', 'tools.md'))
    const named = namedBy(/`([a-z_]+\.[a-z_.]*[a-z])`/g, pages).filter(
      (name) => sections.has(name.split('.')[0]) && !name.endsWith('.json'),
    )
    assert.ok(named.length > 100, `${named.length} settings are named`)
    const unknown = named.filter((name) => !keys.some((key) => key === name || key.startsWith(`${name}.`)))
    // A member of a model in `GET /v1/models`.
    assert.deepEqual(unknown, ['pricing.prompt'])
  })

  it('name no variable that nothing reads', () => {
    const named = namedBy(/\b(GAZEWAY_[A-Z_]+)\b/g)
    assert.ok(named.length > 30, `${named.length} variables are named`)
    const examples = TEXTS.flatMap(({ text }) => text.match(/^```[jt]s\n[\s\S]*?^```$/gm) ?? [])
    const others = [...SOURCES, ...readersIn('bench', 'scripts', 'deploy'), ...examples]
    const tests = readersIn('test')
    const unknown = named.filter(
      (name) =>
        unknownVariables({ [name]: 'set' }, ['name']) !== null &&
        !reads(OF_TESTS.test(name) ? [...others, ...tests] : others, name),
    )
    assert.deepEqual(unknown, [])
  })

  it('name no tool and no metric that there is not', () => {
    const tools = new Set<string>(offered.map(({ name }) => name))
    const namedTools = namedBy(/\b(gateway_[a-z_]+)\b/g)
    assert.equal(namedTools.length, tools.size)
    assert.deepEqual(
      namedTools.filter((name) => !tools.has(name)),
      [],
    )
    const metrics = namedBy(/\b(gazeway_[a-z_]+)\b/g)
    assert.ok(metrics.length > 20, `${metrics.length} metrics are named`)
    assert.deepEqual(
      metrics.filter((name) => !(name.replace(/_(?:bucket|sum|count)$/, '') in METRICS) && !(name in METRICS)),
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
