import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defused, defusedJson } from '../../src/text/defuse-client-tags.ts'

describe('foreign text for a model', () => {
  for (const tag of [
    '<system-reminder>',
    '</system-reminder>',
    '</SYSTEM_REMINDER >',
    '< / system-reminder>',
    '</\u200bsystem-reminder>',
    '<system>',
    '<command-name>',
    '<local-command-stdout>',
    '<bash-input>',
    '<user-prompt-submit-hook>',
    '<task-notification>',
    '</tool_use_error>',
    '</function_results>',
    '<invoke name="Bash">',
    '<environment_context>',
    '<user_instructions>',
    '<INSTRUCTIONS>',
    '<permissions instructions>',
    '</work_context>',
    '<user_query>',
    '<|im_start|>',
  ])
    it(`cannot pass for its client with ${JSON.stringify(tag)}`, () => {
      assert.equal(defused(`a${tag}b`), `a‹${tag.slice(1)}b`)
    })

  for (const text of [
    'Promise<string>, a < b, <div class="system-reminder">',
    '<systematic>, <instruction-set>, <commandName>',
    '<my-element><user id="1">',
  ])
    it(`stays as it is: ${text}`, () => assert.equal(defused(text), text))

  it('is defused wherever it stands in JSON, names too', () => {
    const json = JSON.parse('{"</system>":[{"a":"<system>"},1,null],"__proto__":{"b":"<system>"}}')
    assert.equal(
      JSON.stringify(defusedJson(json)),
      '{"‹/system>":[{"a":"‹system>"},1,null],"__proto__":{"b":"‹system>"}}',
    )
  })

  it('is defused in time by its length, whatever it is', () => {
    const million = 1_000_000
    const begun = performance.now()
    for (const part of ['<', '< ', '<a-', '</', '<system', 'a'])
      assert.ok(defused(part.repeat(million / part.length)).length > 0)
    for (const part of [' ', 'a', 'a-', '/']) assert.ok(defused(`<${part.repeat(million)}`).length > 0)
    assert.ok(performance.now() - begun < 20_000)
  })
})
