import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { type LengthBounds, longFunctions } from '../../scripts/long-functions.ts'

/** Text of a function of so many lines. */
const ofLines = (head: string, lines: number): string => `${head} {\n${'  work()\n'.repeat(lines - 2)}}`

const BOUNDS: LengthBounds = { mostOverScreen: 1, long: ['src/pay.ts pay'] }
const FINE = {
  'src/pay.ts': ofLines('export function pay()', 101),
  'tools/tool.ts': `/**\n${' * word\n'.repeat(20)} */\n${ofLines('export const run = () =>', 70)}`,
  'adapters/page.tsx': ofLines('function Page()', 70),
}

describe('the check of functions', () => {
  const folders: string[] = []
  after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true })
  })

  /** Faults of a tree with some files changed. */
  function faultsOf(changed: Record<string, string>, bounds = BOUNDS): string[] {
    const root = mkdtempSync(join(tmpdir(), 'gazeway-functions-'))
    folders.push(root)
    for (const [name, text] of Object.entries({ ...FINE, ...changed })) {
      mkdirSync(dirname(join(root, name)), { recursive: true })
      writeFileSync(join(root, name), text)
    }
    return longFunctions(root, bounds)
  }

  it('finds nothing in a tree that keeps the bounds, docstrings not counted', () => assert.deepEqual(faultsOf({}), []))

  it('refuses one more function over a screen, and names the longest first', () =>
    assert.deepEqual(faultsOf({ 'adapters/page.tsx': ofLines('function Page()', 71) }), [
      '2 functions have more than 70 lines; 1 may. Split one that you changed:',
      '101 src/pay.ts pay',
      '71 adapters/page.tsx Page',
    ]))

  for (const [what, text, name] of [
    ['a declared function', ofLines('function take()', 101), 'take'],
    ['an assigned function', ofLines('const take = () =>', 101), 'take'],
    ['a method', `const desk = {\n${ofLines('take()', 101)}\n}`, 'take'],
    ['a function of a property', `const desk = {\ntake: ${ofLines('() =>', 101)}\n}`, 'take'],
    ['a callback', `each(${ofLines('() =>', 101)})`, 'without a name'],
  ] as const)
    it(`refuses ${what} of more than a hundred lines that is not allowed`, () =>
      assert.deepEqual(faultsOf({ 'src/take.ts': text }, { ...BOUNDS, mostOverScreen: 2 }), [
        `src/take.ts ${name} has 101 lines, more than 100. Split it.`,
      ]))

  it('refuses to allow a function that is short again', () =>
    assert.deepEqual(faultsOf({ 'src/pay.ts': ofLines('export function pay()', 100) }), [
      'scripts/functions.ts allows src/pay.ts pay, which is not longer than 100 lines any more.',
    ]))
})
