import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import type { Source } from '../../src/assistants/format.ts'
import { json, jsonc } from '../../src/assistants/json-format.ts'
import { commentsOf, jsoncText } from './jsonc-text.ts'

const ENTRY = { command: 'npx', args: ['-y', 'gazeway'], env: { XAI_API_KEY: '${env:XAI_API_KEY}' } }
const source = (text: string): Source => ({ file: 'mcp.json', text, servers: 'mcpServers' })
const put = (text: string) => jsonc.put(source(text), ENTRY)
const take = (text: string) => jsonc.take(source(text), 'kept')
const lines = (...all: string[]) => `${all.join('\n')}\n`
const OPTIONS = { allowTrailingComma: true, allowEmptyContent: true }
const contentOf = (text: string) => parse(text, [], OPTIONS) ?? {}

describe('an entry in JSON with comments', () => {
  it('is added as the last, and every comment stays with what it is about', () => {
    const text = lines(
      '// Mine',
      '{',
      '    "theme": "dark", // as always',
      '    "mcpServers": {',
      '        // the first',
      '        "memory": { "command": "memory" } // and the last',
      '    }',
      '}',
    )
    assert.equal(
      put(text),
      lines(
        '// Mine',
        '{',
        '    "theme": "dark", // as always',
        '    "mcpServers": {',
        '        // the first',
        '        "memory": { "command": "memory" }, // and the last',
        '        "gazeway": {',
        '            "command": "npx",',
        '            "args": [',
        '                "-y",',
        '                "gazeway"',
        '            ],',
        '            "env": {',
        '                "XAI_API_KEY": "${env:XAI_API_KEY}"',
        '            }',
        '        }',
        '    }',
        '}',
      ),
    )
    assert.equal(take(put(text)), text)
  })

  it('keeps line ends, tabs and a comma after the last', () => {
    const text = '{\r\n\t"mcpServers": {\r\n\t\t"memory": {},\r\n\t},\r\n}\r\n'
    const added = put(text)
    assert.match(added, /"memory": \{\},\r\n\t\t"gazeway": \{\r\n\t\t\t"command": "npx",\r\n/)
    assert.match(added, /\r\n\t\t\},\r\n\t\},\r\n\}\r\n$/)
    assert.doesNotMatch(added, /[^\r]\n/)
    assert.equal(take(added), text)
  })

  it('stays on the line of a file of one line', () => {
    const text = '{"a":1,"mcpServers":{"memory":{"command":"m"}}}'
    assert.equal(
      put(text),
      '{"a":1,"mcpServers":{"memory":{"command":"m"}, "gazeway": { "command": "npx", "args": ["-y", "gazeway"], "env": { "XAI_API_KEY": "${env:XAI_API_KEY}" } }}}',
    )
    assert.equal(take(put(text)), text)
  })

  it('creates the list of servers, or the file, when missing', () => {
    assert.deepEqual(contentOf(put('{ "theme": "dark" }')), { theme: 'dark', mcpServers: { gazeway: ENTRY } })
    assert.equal(put(''), `${JSON.stringify({ mcpServers: { gazeway: ENTRY } }, null, 2)}\n`)
    const text = lines('{', '  "theme": "dark" // as always', '}')
    assert.equal(jsonc.take(source(put(text)), 'taken'), text)
  })

  it('is replaced where it stands', () => {
    const text = lines(
      '{',
      '  "mcpServers": {',
      '    "gazeway": { "command": "old" }, // mine',
      '    "memory": {}',
      '  }',
      '}',
    )
    const replaced = put(text)
    assert.deepEqual(contentOf(replaced), { mcpServers: { gazeway: ENTRY, memory: {} } })
    assert.deepEqual(Object.keys(contentOf(replaced).mcpServers), ['gazeway', 'memory'])
    assert.match(replaced, /\}, \/\/ mine\n {4}"memory": \{\}/)
  })

  it('is taken out from the middle, and what came after it stays', () => {
    const text = lines(
      '{',
      '  "mcpServers": {',
      '    "a": {},',
      '    "gazeway": {}, // gone',
      '    "b": {}',
      '  }',
      '}',
    )
    assert.equal(take(text), lines('{', '  "mcpServers": {', '    "a": {}, // gone', '    "b": {}', '  }', '}'))
    assert.equal(take('{"mcpServers": {"gazeway": {}, "b": {}}}'), '{"mcpServers": {"b": {}}}')
    assert.equal(take('{"mcpServers": {"a": {}, "gazeway": {}}}'), '{"mcpServers": {"a": {}}}')
    assert.equal(take('{"mcpServers": {"gazeway": {}}}'), '{"mcpServers": {}}')
  })

  it('changes nothing else, whatever the file looks like', () => {
    fc.assert(
      fc.property(jsoncText, (text) => {
        const added = put(text)
        const before = contentOf(text)
        assert.deepEqual(contentOf(added), { ...before, mcpServers: { ...before.mcpServers, gazeway: ENTRY } })
        assert.ok(isInsertion(text, added), `${JSON.stringify(text)} became ${JSON.stringify(added)}`)
        assert.deepEqual(commentsOf(added), commentsOf(text))
        assert.deepEqual(contentOf(put(added)), contentOf(added))
      }),
      { numRuns: 2000 },
    )
  })

  it('is taken out again, and comments and values are as they were', () => {
    fc.assert(
      fc.property(jsoncText, (text) => {
        const added = put(text)
        const hadServers = jsonc.hasServers(source(text))
        const left = jsonc.take(source(added), hadServers ? 'kept' : 'taken')
        assert.deepEqual(contentOf(left), contentOf(text))
        assert.deepEqual(Object.keys(contentOf(left)), Object.keys(contentOf(text)))
        assert.deepEqual(commentsOf(left), commentsOf(text))
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a file that is refused', () => {
  const refused: [text: string, message: RegExp][] = [
    [
      '{ "mcpServers": ',
      /^mcp\.json: line 1, column \d+: not valid JSON \(.+\)\. Repair it by hand; nothing was changed\.$/,
    ],
    ['{}\n}', /line 2, column 1: not valid JSON/],
    ['[]', /The file is not an object/],
    ['"text"', /The file is not an object/],
    ['{ "mcpServers": [] }', /mcpServers is not an object/],
    ['{ "mcpServers": null }', /mcpServers is not an object/],
    ['{ "mcpServers": {}, "mcpServers": {} }', /"mcpServers" occurs 2 times; keep one of them/],
    ['{ "mcpServers": { "gazeway": {}, "gazeway": {} } }', /"gazeway" occurs 2 times; keep one of them/],
    [`{ "mcpServers": ${'['.repeat(200_000)}`, /nested too deeply/],
    ['<<<<<<< HEAD\n{}', /line 1, column 1: not valid JSON/],
  ]
  for (const [text, message] of refused)
    it(`is ${text.length > 60 ? `${text.slice(0, 20)}…` : text}`, () => {
      for (const work of [() => jsonc.read(source(text)), () => put(text), () => take(text)])
        assert.throws(work, { message })
    })

  it('has comments where its owner takes none', () => {
    assert.throws(() => json.put(source('{ // mine\n}'), ENTRY), { message: /not valid JSON \(InvalidCommentToken\)/ })
    assert.throws(() => json.put(source('{ "a": 1, }'), ENTRY), { message: /not valid JSON/ })
  })
})

/** Tells whether `added` is `text` with one or two insertions. The spaces of an empty object may be missing. */
function isInsertion(text: string, added: string): boolean {
  let start = 0
  while (start < text.length && text[start] === added[start]) start++
  let end = 0
  while (end < text.length - start && text.at(-1 - end) === added.at(-1 - end)) end++
  const middle = text.slice(start, text.length - end)
  const inserted = added.slice(start, added.length - end)
  return middle.trim() === '' || (inserted.startsWith(',') && inserted.slice(1).startsWith(middle))
}
