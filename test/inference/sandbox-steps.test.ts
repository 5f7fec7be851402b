import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createInstance } from '../../src/inference/sandbox/json-instance.ts'
import { createJsonTexts } from '../../src/inference/sandbox/json-texts.ts'
import { stepsOf, withinSteps } from '../../src/inference/sandbox/steps.ts'

/** Each step with the indexes of those that it depends on: "Write it < 0 1". */
const listed = (text: string) => stepsOf(text).map((step) => [step.text, ...step.after].join(' < '))

describe('the steps of a text', () => {
  const cases: [string, string, string[]][] = [
    ['one piece of work', 'Build a website.', ['Build a website']],
    [
      'sentences',
      'Find out why the site is slow. Then mend it. Finally, tell the customers!',
      ['Find out why the site is slow', 'Mend it < 0', 'Tell the customers < 1'],
    ],
    [
      'parallel clauses, and sequential ones',
      'Research the competitors and collect their prices, then write a comparison; publish it on the blog.',
      ['Research the competitors', 'Collect their prices', 'Write a comparison < 0 < 1', 'Publish it on the blog < 2'],
    ],
    [
      'a numbered list',
      'To move house:\n1. Pack the books.\n2) Rent a van and drive it there.\nStep 3: Unpack',
      ['Pack the books', 'Rent a van and drive it there < 0', 'Unpack < 1'],
    ],
    ['numbers in one line', '1. Collect data 2. Read it 3. Report', ['Collect data', 'Read it < 0', 'Report < 1']],
    [
      'parallel bullets',
      'Before the release:\n- Fix the login page\n* Write the docs\n\nThen release it today.',
      ['Fix the login page', 'Write the docs', 'Release it today < 0 < 1'],
    ],
    [
      'clauses with a single piece of work',
      'Compare cats and dogs. Build and test it. Sort red, green and blue balls.',
      ['Compare cats and dogs', 'Build and test it < 0', 'Sort red, green and blue balls < 1'],
    ],
    ['no text', ' \n - \n ... ', []],
  ]
  for (const [what, text, steps] of cases) it(`are found in ${what}`, () => assert.deepEqual(listed(text), steps))

  it('are joined at the end where fewer are allowed', () => {
    const steps = stepsOf('1. Dig 2. Sow 3. Water 4. Reap')
    assert.deepEqual(withinSteps(steps, 2), [
      { text: 'Dig', after: [] },
      { text: 'Sow; Water; Reap', after: [0] },
    ])
    assert.deepEqual(withinSteps(steps, 1), [{ text: 'Dig; Sow; Water; Reap', after: [] }])
    assert.deepEqual(withinSteps(steps, 9), steps)
  })

  it('are found in time linear in the length of the text', () => {
    // With quadratic time, these would take most of an hour.
    const texts = ['a, ', ' ', '1. x ', '- x\n', '.', ', ', ', and'].map((piece) =>
      piece.repeat(1_000_000 / piece.length),
    )
    for (const text of texts.flatMap((pieces) => [pieces, `${pieces}a`]))
      assert.ok(stepsOf(text).length <= 200, 'no more than 200 steps')
  })
})

describe('a plan of the sandbox', () => {
  const text = { type: 'string' }
  const planSchema = (over: object = {}, capability: object = text) => ({
    type: 'object',
    properties: {
      tasks: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: text,
            title: text,
            capabilities: { type: 'array', items: capability },
            depends_on: { type: 'array', items: text },
          },
          required: ['id', 'title', 'capabilities', 'depends_on'],
        },
        ...over,
      },
    },
    required: ['tasks'],
  })
  const GOAL = 'Collect the SQL queries and write a test of each, then draw a chart.'
  const plan = (schema: object, steps = stepsOf(GOAL)) => {
    const texts = createJsonTexts([GOAL], { marked: true })
    const made = createInstance(schema, texts, steps) as { tasks: Record<string, unknown>[] }
    return made.tasks.map(({ title, capabilities, depends_on }) => [title, capabilities, depends_on])
  }

  it('has a task for each step, which waits for those before it', () => {
    assert.deepEqual(plan(planSchema()), [
      ['[sandbox] Collect the SQL queries', [], []],
      ['Write a test of each', [], []],
      ['Draw a chart', [], ['t1', 't2']],
    ])
  })

  it('is a chain of three tasks without steps', () => {
    const dependencies = plan(planSchema(), []).map(([, , dependsOn]) => dependsOn)
    assert.deepEqual(dependencies, [[], ['t1'], ['t2']])
  })

  it('has no more tasks than the list may hold, by its bound or by its description', () => {
    for (const over of [{ maxItems: 2 }, { description: 'The tasks: at least 1, at most 2' }])
      assert.deepEqual(plan(planSchema(over)), [
        ['[sandbox] Collect the SQL queries', [], []],
        ['Write a test of each; Draw a chart', [], ['t1']],
      ])
  })

  it('asks for the capabilities that a step names', () => {
    const capabilities = plan(planSchema({}, { enum: ['sql', 'chart drawing', 'tests'] })).map(([, asked]) => asked)
    assert.deepEqual(capabilities, [['sql'], ['tests'], []])
  })
})
