import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { describe, it } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import unended from '../../scripts/unended.ts'

const FILE = resolve('test/x/y.test.ts')
const stopped = Object.assign(new Error('test timed out after 300000ms'), { failureType: 'testTimeoutFailure' })

const begins = (name: string, nesting: number) => ({ type: 'test:dequeue', data: { name, nesting, file: FILE } })
const ends = (name: string, nesting: number) => ({ type: 'test:complete', data: { name, nesting, file: FILE } })
const fails = (name: string, error: Error) => ({ type: 'test:fail', data: { name, nesting: 0, details: { error } } })

/** Output of the reporter for a run with these events, in the order in which Node's runner has them. */
async function said(...events: object[]): Promise<string> {
  const lines: string[] = []
  const stream = (async function* () {
    yield* events as TestEvent[]
  })()
  for await (const line of unended(stream)) lines.push(line)
  return lines.join('')
}

describe('a process of tests that did not end', () => {
  it('has the case named that was under way', async () => {
    const events = [begins('a suite', 0), begins('first', 1), ends('first', 1), begins('second', 1)]
    assert.equal(await said(...events, fails(FILE, stopped)), '\nNot ended in test/x/y.test.ts: a suite > second\n')
  })

  it('is said to be kept by what its cases opened where they all had ended', async () => {
    const events = [begins('a suite', 0), begins('first', 1), ends('first', 1), ends('a suite', 0)]
    assert.match(await said(...events, fails(FILE, stopped)), /^\nAll cases of test\/x\/y\.test\.ts had ended/)
  })

  it('is distinguished from one with a failing case, and from the one before it', async () => {
    const events = [begins('first', 0), ends('first', 0), fails('first', new Error('no')), fails(FILE, new Error('1'))]
    assert.equal(await said(...events), '')
    const crashed = [begins('second', 0), fails(FILE, new Error('test failed'))]
    assert.equal(await said(...crashed, ...events), '\nNot ended in test/x/y.test.ts: second\n')
  })
})
