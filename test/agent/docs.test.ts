import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { AGENT_BUDGET } from '../../src/agent/agent.ts'

it("docs/reference/sessions.md gives the agent's budgets and formula as the code has them", () => {
  const page = readFileSync('docs/reference/sessions.md', 'utf8')
  for (const tokens of Object.values(AGENT_BUDGET))
    assert.ok(page.includes(`${tokens.toLocaleString('en')} tokens`), `${tokens}`)
  const code = readFileSync('src/agent/exchange-tensor.ts', 'utf8')
  const formula = /```text\n([^`]+)```/.exec(page)?.[1]?.trim().split('\n') ?? []
  assert.equal(formula.length, 2)
  for (const line of formula) assert.ok(code.includes(line), line)
})
