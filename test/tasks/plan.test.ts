import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { checkPlan, readPlan } from '../../src/tasks/plan.ts'
import { type PlanTask, planFormat } from '../../src/tasks/plan-schema.ts'

const LIMITS = { maxTasks: 50, capabilities: null }

const task = (id: string, depends_on: string[] = [], capabilities: string[] = []): PlanTask => ({
  id,
  title: `Do ${id}`,
  description: '',
  capabilities,
  depends_on,
})

const reply = (...tasks: unknown[]) => JSON.stringify({ tasks })

function faultOf(text: string, limits: Parameters<typeof readPlan>[1] = LIMITS): string {
  const { plan, fault } = readPlan(text, limits)
  assert.equal(plan, null)
  return fault ?? ''
}

/** Dependencies between numbered tasks: each only on earlier ones, so that there is no cycle, then shuffled. */
const acyclic = fc
  .integer({ min: 1, max: 50 })
  .chain((count) =>
    fc.tuple(
      fc.tuple(
        ...Array.from({ length: count }, (_, at) =>
          fc.uniqueArray(fc.nat({ max: Math.max(0, at - 1) }), { maxLength: Math.min(at, 6) }),
        ),
      ),
      fc.shuffledSubarray(
        Array.from({ length: count }, (_, at) => at),
        { minLength: count, maxLength: count },
      ),
    ),
  )
  .map(([dependencies, shuffled]) => {
    const tasks = dependencies.map((earlier, at) =>
      task(
        `t${at}`,
        earlier.map((other) => `t${other}`),
      ),
    )
    return shuffled.map((at) => tasks[at] as PlanTask)
  })

describe('a plan', () => {
  it('orders tasks so that each comes after all that it waits for, whatever the graph', () => {
    fc.assert(
      fc.property(acyclic, (tasks) => {
        const { plan, fault } = checkPlan(tasks, LIMITS)
        assert.equal(fault, null)
        const place = new Map(plan?.order.map((id, at) => [id, at]))
        assert.equal(place.size, tasks.length)
        assert.equal(
          plan?.edges.length,
          tasks.reduce((sum, { depends_on }) => sum + depends_on.length, 0),
        )
        for (const [from, to] of plan?.edges ?? []) {
          assert.ok((place.get(from) ?? Infinity) < (place.get(to) ?? -1), `${from} before ${to}`)
          assert.ok(tasks.find(({ id }) => id === to)?.depends_on.includes(from), `${to} waits for ${from}`)
        }
      }),
    )
  })

  it('is refused for any cycle, which it names: each waits for the next, and the last is the first again', () => {
    const cyclic = fc.tuple(acyclic, fc.integer({ min: 2, max: 50 }), fc.nat()).filter(([{ length }]) => length > 1)
    fc.assert(
      fc.property(cyclic, ([acyclicTasks, size, seed]) => {
        const members = acyclicTasks.slice(0, Math.min(size, acyclicTasks.length)).map(({ id }) => id)
        const turned = members.map((_, at) => members[(at + seed) % members.length] as string)
        const tasks = acyclicTasks.map((one) => {
          const at = turned.indexOf(one.id)
          const next = turned[(at + 1) % turned.length] as string
          return at === -1 ? one : { ...one, depends_on: [...new Set([...one.depends_on, next])] }
        })
        const { fault } = checkPlan(tasks, LIMITS)
        const cycle = /in a cycle: (.+)$/.exec(fault ?? '')?.[1]?.split(' → ') ?? []
        assert.ok(cycle.length >= 3, String(fault))
        assert.equal(cycle[0], cycle.at(-1))
        for (const [at, id] of cycle.slice(0, -1).entries())
          assert.ok(
            tasks.find((one) => one.id === id)?.depends_on.includes(cycle[at + 1] as string),
            `${id} waits for ${cycle[at + 1]} in ${fault}`,
          )
      }),
    )
  })

  it('keeps its own order where nothing waits, and brings the earliest that can come next', () => {
    const { plan } = checkPlan([task('c', ['b']), task('b'), task('a'), task('d', ['c'])], LIMITS)
    assert.deepEqual(plan?.order, ['b', 'c', 'a', 'd'])
    assert.deepEqual(plan?.edges, [
      ['b', 'c'],
      ['c', 'd'],
    ])
  })

  it('never throws, whatever a model replies', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      fc.anything().map((value) => JSON.stringify({ tasks: value })),
    )
    fc.assert(
      fc.property(anything, (text) => {
        const { plan, fault } = readPlan(text ?? '', LIMITS)
        assert.notEqual(plan === null, fault === null)
      }),
    )
  })

  it('may come in a code block, with unknown fields and repeated dependencies', () => {
    const text = `\`\`\`json\n${reply({ ...task('a'), hours: 3 }, task('b', ['a', 'a']))}\n\`\`\``
    assert.deepEqual(readPlan(text, LIMITS).plan?.edges, [['a', 'b']])
    assert.ok(!('hours' in (readPlan(text, LIMITS).plan?.tasks[0] ?? {})), 'what is unknown is left out')
  })

  const faults: [string, string, RegExp, Parameters<typeof readPlan>[1]?][] = [
    ['nothing', '  ', /^the reply is empty$/],
    ['text', 'Here is your plan: first, …', /^the reply is not valid JSON$/],
    ['broken JSON', '{"tasks": [{"id": "t1", ', /^the reply is not valid JSON$/],
    ['another shape', '{"steps": []}', /^tasks: missing; must be /],
    ['a list', '[]', /^the plan: got a list/],
    ['a field of another kind', reply({ ...task('a'), depends_on: 'b' }), /^tasks\.0\.depends_on: got text; must be /],
    ['two lines for a title', reply({ ...task('a'), title: 'a\nb' }), /^tasks\.0\.title: invalid format/],
    ['no title', reply({ ...task('a'), title: '   ' }), /^tasks\.0\.title: invalid format; must be /],
    [
      'a very long title',
      reply({ ...task('a'), title: 'x'.repeat(201) }),
      /^tasks\.0\.title: invalid format; must be /,
    ],
    ['NUL in a text', reply({ ...task('a'), description: 'a\0b' }), /^tasks\.0\.description: must not contain the NUL/],
    ['no tasks', reply(), /^it has no tasks$/],
    [
      'too many tasks',
      reply(task('a'), task('b')),
      /^it has 2 tasks; at most 1 are allowed$/,
      { ...LIMITS, maxTasks: 1 },
    ],
    ['an id twice', reply(task('a'), task('b'), task('a')), /^the id a is given to more than one task$/],
    ['a dependency that is not there', reply(task('a', ['z'])), /^task a depends on z, which is not in the plan$/],
    ['a task that waits for itself', reply(task('a', ['a'])), /^task a depends on itself$/],
    ['a circle', reply(task('a', ['b']), task('b', ['a']), task('c', ['a'])), /cycle: a → b → a$/],
    ['a circle that others wait for', reply(task('c', ['a']), task('a', ['b']), task('b', ['a'])), /cycle: a → b → a$/],
    [
      'a capability that nobody has',
      reply(task('a', [], ['go', 'rust'])),
      /^task a asks for rust; allowed are go, sql$/,
      { ...LIMITS, capabilities: ['go', 'sql'] },
    ],
    [
      'several faults',
      reply(task('a', ['y', 'z']), task('a')),
      /^the id a .+; task a depends on y.+; task a depends on z/,
    ],
    ['an enormous text', `"${'x'.repeat(500_000)}"`, /^the reply is longer than 500000 characters$/],
  ]
  for (const [what, text, fault, limits] of faults)
    it(`is refused for ${what}, in words that say what to mend`, () => assert.match(faultOf(text, limits), fault))

  it('tells at most five faults at once, and of a name no more than its beginning, without control characters', () => {
    const many = faultOf(reply(task('a', ['1', '2', '3', '4', '5', '6', '7'])))
    assert.match(many, /on 5, which is not in the plan; and 2 more faults$/)
    const named = faultOf(reply(task('a', [`\u202e${'x'.repeat(50)}`])))
    assert.match(named, /^task a depends on \?x{38}…, which/)
  })
})

describe('the format that a plan is asked for in', () => {
  it('is a strict schema: every field required, no others, and no bounds that a provider might refuse', () => {
    const { json_schema } = planFormat({ maxTasks: 8, capabilities: ['go'] })
    assert.equal(json_schema.strict, true)
    const text = JSON.stringify(json_schema.schema)
    assert.doesNotMatch(text, /"(max|min)(Items|Length)"|"pattern"|"\$ref"/)
    const check = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return
      const { type, properties, required, additionalProperties } = node as Record<string, unknown>
      if (type === 'object')
        assert.deepEqual([required, additionalProperties], [Object.keys(properties as object), false])
      for (const inner of Object.values(node)) check(inner)
    }
    check(json_schema.schema)
    assert.match(text, /at most 8/)
    assert.match(text, /"enum":\["go"\]/)
  })
})
