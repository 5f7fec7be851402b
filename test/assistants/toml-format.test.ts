import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import * as smol from 'smol-toml'
import type { Source } from '../../src/assistants/format.ts'
import { toml } from '../../src/assistants/toml-format.ts'
import { tomlText } from './toml-text.ts'

const ENTRY = { command: 'npx', args: ['-y', 'gazeway'], env_vars: ['XAI_API_KEY'] }
const source = (text: string): Source => ({ file: 'config.toml', text, servers: 'mcp_servers' })
const parse = (text: string) => structuredClone(smol.parse(text))
const put = (text: string) => toml.put(source(text), ENTRY)
const take = (text: string) => toml.take(source(text), 'kept')
const TABLE = '[mcp_servers.gazeway]\ncommand = "npx"\nargs = ["-y", "gazeway"]\nenv_vars = ["XAI_API_KEY"]\n'

describe('an entry in TOML', () => {
  it('is a table at the end, after a blank line', () => {
    const text = '# mine\nmodel = "m" # as always\n\n[tui]\ntheme = "dark"\n'
    assert.equal(put(text), `${text}\n${TABLE}`)
    assert.equal(take(put(text)), text)
    assert.equal(put(''), TABLE)
  })

  it('keeps line ends', () => {
    assert.equal(put('a = 1\r\n'), `a = 1\r\n\r\n${TABLE.replaceAll('\n', '\r\n')}`)
    assert.equal(take(put('a = 1\r\n')), 'a = 1\r\n')
  })

  it('is replaced where it stands, with its other tables', () => {
    const text =
      'a = 1\n\n[mcp_servers.gazeway] # mine\ncommand = "old"\n\n[mcp_servers.gazeway.env]\nK = "v"\n\n# next\n[tui]\nb = 2\n'
    assert.deepEqual(parse(put(text)), { a: 1, mcp_servers: { gazeway: ENTRY }, tui: { b: 2 } })
    assert.match(put(text), /^a = 1\n\n\[mcp_servers\.gazeway\]\n[\s\S]*\n# next\n\[tui\]\nb = 2\n$/)
  })

  for (const text of [
    'a = 1\n[mcp_servers.gazeway]\ncommand = "x"\n[tui]\nb = 2\n',
    'a = 1\nmcp_servers.gazeway.command = "x"\nmcp_servers.gazeway.args = []\n[tui]\nb = 2\n',
    'a = 1\n[mcp_servers]\ngazeway = { command = "x" }\n[tui]\nb = 2\n',
    'a = 1\n["mcp_servers".gazeway]\ncommand = "x"\n[mcp_servers.gazeway.env]\n[tui]\nb = 2\n',
  ])
    it(`is found, replaced and taken out as ${JSON.stringify(text.slice(6, 40))}`, () => {
      assert.equal((toml.read(source(text)) as { command: string }).command, 'x')
      assert.deepEqual((parse(put(text)).mcp_servers as { gazeway: unknown }).gazeway, ENTRY)
      const { mcp_servers: left = {}, ...rest } = parse(take(text))
      assert.deepEqual([left, rest], [{}, { a: 1, tui: { b: 2 } }])
    })

  it('changes nothing else, whatever the file looks like', () => {
    fc.assert(
      fc.property(tomlText, (text) => {
        const before = parse(text) as { mcp_servers?: object }
        const added = put(text)
        assert.ok(added.startsWith(text), added)
        assert.deepEqual(parse(added), { ...before, mcp_servers: { ...before.mcp_servers, gazeway: ENTRY } })
        assert.equal(put(added), added)
        assert.deepEqual(toml.read(source(added)), ENTRY)
        // A line end that was missing stays.
        assert.equal(take(added).trimEnd(), text.trimEnd())
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a file of TOML that is refused', () => {
  const refused: [text: string, message: RegExp][] = [
    [
      'model = ',
      /^config\.toml: line 1, column \d+: not valid TOML \(.+\)\. Repair it by hand; nothing was changed\.$/,
    ],
    ['[mcp_servers.gazeway]\n[mcp_servers.gazeway]\n', /line 2, .*not valid TOML/],
    ['mcp_servers = 1\n', /mcp_servers is not a table/],
    ['mcp_servers = { a = { command = "x" } }\n', /mcp_servers is an inline table/],
    [`a = ${'['.repeat(100_000)}`, /nested too deeply|not valid TOML/],
  ]
  for (const [text, message] of refused)
    it(`is ${text.slice(0, 40)}`, () => assert.throws(() => put(text), { message }))

  it('has the entry in braces, which is taken out by hand', () =>
    assert.throws(() => take('mcp_servers = { gazeway = { command = "gazeway" } }\n'), {
      message: /an inline table/,
    }))
})
