import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Machine } from '../../src/assistants/assistant.ts'
import type { Endpoint } from '../../src/coding-agents/coding-agent.ts'
import { CODING_AGENTS } from '../../src/coding-agents/coding-agents.ts'

const endpoint: Endpoint = {
  url: 'http://127.0.0.1:8811',
  key: 'gzw_k',
  keyFile: 'C:\\Users\\ann\\k.key',
  model: null,
  smallModel: null,
}
const windows: Machine = { platform: 'win32', home: 'C:\\Users\\ann', env: {}, project: 'D:\\shop' }

/** name → your files on Windows; elsewhere, where a variable names the folder; and the one in a project. */
const FILES: Record<string, { own: string[]; moved?: [variable: string, path: string]; inProject?: string }> = {
  'claude-code': {
    own: ['C:\\Users\\ann\\.claude\\settings.json'],
    moved: ['CLAUDE_CONFIG_DIR', 'E:\\agents\\settings.json'],
    inProject: 'D:\\shop\\.claude\\settings.local.json',
  },
  codex: { own: ['C:\\Users\\ann\\.codex\\config.toml'], moved: ['CODEX_HOME', 'E:\\agents\\config.toml'] },
  opencode: {
    own: ['C:\\Users\\ann\\.config\\opencode\\opencode.json'],
    moved: ['XDG_CONFIG_HOME', 'E:\\agents\\opencode\\opencode.json'],
    inProject: 'D:\\shop\\opencode.json',
  },
  'qwen-code': { own: ['C:\\Users\\ann\\.qwen\\settings.json'], moved: ['QWEN_HOME', 'E:\\agents\\settings.json'] },
  'gemini-cli': { own: ['C:\\Users\\ann\\.gemini\\settings.json', 'C:\\Users\\ann\\.gemini\\.env'] },
}

describe('the files of coding agents on Windows', () => {
  it('are those of each agent', () =>
    assert.deepEqual(
      Object.keys(FILES),
      CODING_AGENTS.map(({ name }) => name),
    ))

  for (const agent of CODING_AGENTS) {
    const { own, moved, inProject } = FILES[agent.name] ?? { own: [] }
    const paths = (machine: Machine, scope: 'user' | 'project') =>
      agent.files(endpoint, machine, scope).map(({ path }) => path)

    it(`${agent.name}: in %USERPROFILE%, where its variable says, and in the project`, () => {
      assert.deepEqual(paths(windows, 'user'), own)
      if (moved) assert.deepEqual(paths({ ...windows, env: { [moved[0]]: 'E:\\agents' } }, 'user'), [moved[1]])
      if (inProject) assert.deepEqual(paths(windows, 'project'), [inProject])
      assert.equal(agent.notInProject === null, inProject !== undefined)
    })
  }

  it('name a command of Windows for the key', () => {
    const texts = CODING_AGENTS.flatMap((agent) => agent.files(endpoint, windows, 'user')).map((file) =>
      JSON.stringify(file.settings),
    )
    assert.ok(texts.some((text) => text.includes('type \\"C:\\\\Users')))
    assert.ok(texts.every((text) => !text.includes('"cat')))
  })
})
