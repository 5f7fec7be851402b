import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toolChoice } from '../../adapters/stdio/tool-choice.ts'
import { checkConfig } from '../../src/config/check-config.ts'
import { readFlags } from '../../src/config/environment.ts'
import { TOOL_GROUPS } from '../../src/config/sections/mcp-section.ts'
import { tools } from '../../tools/index.ts'

const choose = (mcp: object) => {
  const { data, error } = checkConfig({ mcp })
  if (error) throw error
  const { has } = toolChoice(data.mcp)
  return tools.flatMap(({ name }) => (has(name) ? [name.slice('gateway_'.length)] : []))
}

describe('the choice of tools', () => {
  it('knows each tool, in one group', () => {
    assert.deepEqual(Object.values(TOOL_GROUPS).flat().sort(), tools.map(({ name }) => name).sort())
  })

  it('is all of them where nothing is chosen', () => {
    assert.equal(choose({}).length, 12)
  })

  it('takes groups and names, and leaves out what is excluded', () => {
    assert.deepEqual(choose({ tools: ['memory', 'gateway_get_context'], exclude_tools: ['gateway_memory_store'] }), [
      'get_context',
      'memory_recall',
      'memory_search',
    ])
    assert.equal(choose({ exclude_tools: ['gaze', 'upstream'] }).length, 8)
  })

  it('leaves only what writes nothing and spends nothing where it is to read', () => {
    const quiet = tools.filter(({ annotations }) => annotations.readOnlyHint && !annotations.openWorldHint)
    assert.deepEqual(
      choose({ read_only: true }),
      quiet.map(({ name }) => name.slice('gateway_'.length)),
    )
    assert.deepEqual(choose({ read_only: true, tools: ['gaze'] }), ['retrieve_gaze_data'])
  })

  it('leaves at least one', () => {
    assert.throws(() => choose({ tools: ['upstream'], read_only: true }), { code: 'config_invalid', param: '--tools' })
  })

  it('offers the group of each tool that is left', () => {
    const { hasGroup } = toolChoice({ tools: ['gateway_memory_recall'], exclude_tools: [], read_only: false })
    assert.deepEqual([hasGroup('memory'), hasGroup('context')], [true, false])
  })
})

describe('the flags for it', () => {
  it('take lists with commas', () => {
    const flags = readFlags({
      tools: 'memory, gateway_get_context,',
      excludeTools: 'gateway_memory_store',
      readOnly: true,
    })
    assert.deepEqual(Object.fromEntries(flags), {
      'mcp.tools': ['memory', 'gateway_get_context'],
      'mcp.exclude_tools': ['gateway_memory_store'],
      'mcp.read_only': true,
    })
  })

  it('name all that is accepted where a name is unknown', () => {
    assert.throws(
      () => readFlags({ tools: 'memory,gaz' }),
      ({ code, param, message }) => {
        assert.deepEqual([code, param], ['config_invalid', '--tools'])
        for (const name of [...Object.keys(TOOL_GROUPS), ...Object.values(TOOL_GROUPS).flat()])
          assert.ok(message.includes(name), `${name} in ${message}`)
        return true
      },
    )
  })
})
