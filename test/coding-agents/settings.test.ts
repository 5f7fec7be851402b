import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseEnv } from 'node:util'
import { chooseModels } from '../../src/coding-agents/choose-models.ts'
import { claudeCode } from '../../src/coding-agents/claude-code.ts'
import { codex } from '../../src/coding-agents/codex.ts'
import { opencode } from '../../src/coding-agents/opencode.ts'
import { qwenCode } from '../../src/coding-agents/qwen-code.ts'
import { type Setting, setting } from '../../src/coding-agents/setting.ts'
import { type FormatName, SETTING_FORMATS } from '../../src/coding-agents/setting-format.ts'
import { undoSettings, writeSettings } from '../../src/coding-agents/write-settings.ts'
import { GazewayError } from '../../src/errors.ts'

interface Case {
  says: string
  format: FormatName
  before: string
  settings: Setting[]
  after: string
  /** Edit by hand, and what disconnect makes of it. By default nobody edits. */
  edit?: (text: string) => string
  left?: string
  staying?: string[]
}

const ITEM = { ...setting('modelProviders.openai', { id: 'm', baseUrl: 'u' }), isItem: true }
const TABLE = setting('model_providers.gazeway', { name: 'Gazeway', auth: { command: 'cat', args: ['k'] } })

const CASES: Case[] = [
  {
    says: 'keeps comments, trailing commas and line ends of JSON',
    format: 'jsonc',
    before: '{\r\n\t// mine\r\n\t"model": "own", // always\r\n}\r\n',
    settings: [setting('model', 'gazeway/m'), setting('a.b', 1)],
    after: '{\r\n\t// mine\r\n\t"model": "gazeway/m", // always\r\n\t"a": {\r\n\t\t"b": 1\r\n\t},\r\n}\r\n',
  },
  {
    says: 'puts back a value beside one that was added by hand',
    format: 'json',
    before: '{\n  "env": { "A": "1", "B": "mine" }\n}\n',
    settings: [setting('env.B', 'ours'), setting('env.C', 'ours'), setting('x.y', 'ours')],
    after: '{\n  "env": { "A": "1", "B": "ours", "C": "ours" },\n  "x": {\n    "y": "ours"\n  }\n}\n',
    edit: (text) => text.replace('"A": "1"', '"A": "2"'),
    left: '{\n  "env": { "A": "2", "B": "mine" }\n}\n',
  },
  {
    says: 'leaves a value that someone has changed since, and names it',
    format: 'json',
    before: '{}\n',
    settings: [setting('env.B', 'ours'), setting('env.C', 'ours')],
    after: '{\n  "env": {\n    "B": "ours",\n    "C": "ours"\n  }\n}\n',
    edit: (text) => text.replace('"B": "ours"', '"B": "theirs"'),
    left: '{\n  "env": {\n    "B": "theirs"\n  }\n}\n',
    staying: ['env.B'],
  },
  {
    says: 'adds an item to a list with comments, and takes that one alone',
    format: 'jsonc',
    before: '{\n  "modelProviders": {\n    "openai": [\n      // mine\n      { "id": "a" }\n    ]\n  }\n}\n',
    settings: [ITEM],
    after:
      '{\n  "modelProviders": {\n    "openai": [\n      // mine\n      { "id": "a" },\n      {\n        "id": "m",\n        "baseUrl": "u"\n      }\n    ]\n  }\n}\n',
    edit: (text) => text.replace('"a"', '"b"'),
    left: '{\n  "modelProviders": {\n    "openai": [\n      // mine\n      { "id": "b" }\n    ]\n  }\n}\n',
  },
  {
    says: 'makes a list that is absent, and takes it with the objects that lead to it',
    format: 'jsonc',
    before: '{\n  "a": 1\n}\n',
    settings: [ITEM],
    after:
      '{\n  "a": 1,\n  "modelProviders": {\n    "openai": [\n      {\n        "id": "m",\n        "baseUrl": "u"\n      }\n    ]\n  }\n}\n',
    edit: (text) => text.replace('"a": 1', '"a": 2'),
    left: '{\n  "a": 2\n}\n',
  },
  {
    says: 'keeps comments of TOML, and adds values before the first table',
    format: 'toml',
    before: '# mine\nmodel = "own" # always\n\n[tools] # of mine\nx = 1\n',
    settings: [setting('model', 'm'), setting('model_provider', 'gazeway'), TABLE],
    after:
      '# mine\nmodel = "m" # always\nmodel_provider = "gazeway"\n\n[tools] # of mine\nx = 1\n\n[model_providers.gazeway]\nname = "Gazeway"\nauth = { command = "cat", args = ["k"] }\n',
    edit: (text) => text.replace('x = 1', 'x = 2'),
    left: '# mine\nmodel = "own" # always\n\n[tools] # of mine\nx = 2\n',
  },
  {
    says: 'begins a TOML file that has tables alone',
    format: 'toml',
    before: '[tools]\nx = 1\n',
    settings: [setting('model_provider', 'gazeway')],
    after: 'model_provider = "gazeway"\n\n[tools]\nx = 1\n',
  },
  {
    says: 'replaces a variable, and leaves one inside of a longer value',
    format: 'env',
    before: '# mine\nexport A=1 \nTEXT="first\nB=no"\nB=old',
    settings: [setting('A', 'one'), setting('B', 'two'), setting('C', 'three')],
    after: '# mine\nA="one"\nTEXT="first\nB=no"\nB="two"\nC="three"\n',
    edit: (text) => text.replace('# mine', '# still mine'),
    left: '# still mine\nA="1"\nTEXT="first\nB=no"\nB="old"\n',
  },
]

const READ_AS_BEFORE = `B=own # comment
C='a"b\\n' # note
D="first\\nsecond"
E=\`it's "so"\`
`

describe('settings in an agent’s file', () => {
  for (const { says, format: name, before, settings, after, edit, left, staying = [] } of CASES)
    it(says, () => {
      const format = SETTING_FORMATS[name]
      const { text, written } = writeSettings(format, { file: 'f', text: before }, settings)
      assert.equal(text, after)
      assert.equal(writeSettings(format, { file: 'f', text }, settings).text, after, 'a second time changes nothing')
      const kept = JSON.parse(JSON.stringify(written))
      const undone = undoSettings(format, { file: 'f', text: edit?.(text) ?? text }, kept)
      assert.deepEqual(undone, { text: left ?? undone.text, staying })
      if (edit === undefined) assert.deepEqual(undone.text.trim().split(/\s+/), before.trim().split(/\s+/))
    })

  it('go back to variables that dotenv reads as before, with their comments', () => {
    const names = ['B', 'C', 'D', 'E']
    const settings = names.map((name) => setting(name, 'ours'))
    const { text, written } = writeSettings(SETTING_FORMATS.env, { file: 'f', text: READ_AS_BEFORE }, settings)
    assert.deepEqual(parseEnv(text), { B: 'ours', C: 'ours', D: 'ours', E: 'ours' })
    const left = undoSettings(SETTING_FORMATS.env, { file: 'f', text }, written).text
    assert.deepEqual(parseEnv(left), parseEnv(READ_AS_BEFORE))
    assert.match(left, /# comment$/m)
  })

  it('are refused in a file that is invalid, or that says the same twice', () => {
    const REFUSED: [FormatName, string, string][] = [
      ['toml', '[model_providers.gazeway]\nname = "a"\n[model_providers.gazeway]\nname = "b"\n', 'config_invalid'],
      ['toml', 'model = "a"\nmodel = "b"\n', 'config_invalid'],
      ['json', '{ "env": {}, "env": {} }', 'conflict'],
      ['json', '{ // no comments here\n}', 'config_invalid'],
      ['jsonc', '{ "env": [] }', 'config_invalid'],
      ['jsonc', '{ "modelProviders": { "openai": {} } }', 'config_invalid'],
      ['jsonc', '{ "modelProviders": { "openai": [{ "id": "m", "baseUrl": "another" }] } }', 'conflict'],
    ]
    for (const [name, text, code] of REFUSED) {
      const settings = name === 'toml' ? [TABLE, setting('model', 'm')] : [setting('env.A', 'ours'), ITEM]
      assert.throws(
        () => writeSettings(SETTING_FORMATS[name], { file: 'f', text }, settings),
        (error) => error instanceof GazewayError && error.code === code,
        text,
      )
    }
  })
})

describe('a run of an agent', () => {
  const endpoint = { url: 'http://g', key: 'gzw_once', keyFile: '', model: { id: 'm' }, smallModel: null }

  it('goes before a connection, and has no key in its words', () => {
    const claude = claudeCode.run(endpoint, ['/bin/claude', '-p', 'hi'])
    const [, flag, settings = '', ...words] = claude.command
    assert.deepEqual([flag, words], ['--settings', ['-p', 'hi']])
    const { env, apiKeyHelper } = JSON.parse(settings)
    assert.deepEqual([env.ANTHROPIC_BASE_URL, env.ANTHROPIC_AUTH_TOKEN], ['http://g', ''])
    assert.equal(claude.env[apiKeyHelper.replace('printenv ', '')], 'gzw_once')
    assert.deepEqual(claudeCode.run(endpoint, ['npx', 'claude']).command, ['npx', 'claude'])
    const ofCodex = codex.run(endpoint, ['codex', 'exec'])
    assert.ok(ofCodex.command.some((word) => word.startsWith('model_providers.gazeway_once=')))
    assert.equal(qwenCode.run(endpoint, ['qwen']).env.GAZEWAY_QWEN_KEY, 'gzw_once')
    for (const { command } of [claude, ofCodex]) assert.doesNotMatch(command.join(' '), /gzw_once/)
  })
})

describe('models of an agent', () => {
  const listed = [
    { id: 'claude-opus-5', context: 200_000 },
    { id: 'llm-3-fast' },
    { id: 'llm-4.20-0309-reasoning', context: 64_000 },
  ]
  const ids = (...choice: Parameters<typeof chooseModels>) => {
    const { model, smallModel } = chooseModels(...choice)
    return [model?.id, smallModel?.id]
  }

  it('stay its own where the gateway has some of them, and are otherwise names that every provider answers to', () => {
    assert.deepEqual(ids(claudeCode, {}, listed), [undefined, undefined])
    assert.deepEqual(ids(opencode, {}, listed), ['llm-4.20-0309-reasoning', 'llm-3-fast'])
    assert.deepEqual(ids(claudeCode, {}, null), ['llm-4.20-0309-reasoning', 'llm-3-fast'])
    assert.equal(chooseModels(opencode, {}, listed).model?.context, 64_000)
  })

  it('are those that were asked for, and that the key may use', () => {
    assert.deepEqual(ids(claudeCode, { model: 'm' }, listed), ['m', 'm'])
    assert.deepEqual(ids(opencode, { model: 'm', smallModel: 's' }, listed), ['m', 's'])
    assert.deepEqual(ids(opencode, { allowed: ['gpt-*', 'own'] }, listed), ['own', 'own'])
    assert.throws(() => chooseModels(opencode, { allowed: ['gpt-*'] }, listed), /--models does not allow llm-4/)
  })
})
