import assert from 'node:assert/strict'
import { it } from 'node:test'
import { until } from './until.ts'

it('a wait gives what it waited for', async () => {
  let asked = 0
  assert.equal(await until(async () => ++asked > 2 && `asked ${asked} times`), 'asked 3 times')
})

it('a wait for what does not happen ends and says for what', async () => {
  await assert.rejects(
    until(() => 1 > 2, { seconds: 0.02 }),
    { message: /^Waited 0.02 s for \(\) ?=> ?1 ?> ?2$/ },
  )
  await assert.rejects(
    until(() => null, { what: () => 'the log', seconds: 0.02 }),
    { message: /for the log$/ },
  )
})
