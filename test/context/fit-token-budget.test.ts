import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Place, renderContext, WorkContext } from '../../src/context/context.ts'
import { type Form, jsonForm, textForm } from '../../src/context/context-format.ts'
import { fit } from '../../src/context/fit-token-budget.ts'
import type { Candidate, Outline } from '../../src/context/outline.ts'
import { countTokens } from './project.ts'

const signals = { dwell_ms: 1, size: 1 }
const name = fc.oneof(
  fc.stringMatching(/^[a-z]{1,12}\.ts$/),
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
    .map((text) => text.replaceAll('/', '_').replaceAll('#', '_')),
)
const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'))
const line = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.constantFrom('', '```', '<|endoftext|>', '    return x'),
)
const excerpt = fc
  .array(line, { minLength: 1, maxLength: 60 })
  .map((lines) => lines.join('\n').replace(/[^\P{Cc}\n]/gu, ' '))
const memory = fc.record({
  key: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }),
  namespace: fc.constantFrom('default', 'team'),
  value: fc.oneof(fc.string({ unit: 'grapheme', maxLength: 800 }), fc.jsonValue({ maxDepth: 2 })),
  tags: fc.array(fc.string({ maxLength: 20 }), { maxLength: 5 }),
  updated_at: fc.constant('2026-11-21T07:17:52.000Z'),
})
const files = fc
  .uniqueArray(
    fc.record({
      path,
      weight: fc.double({ min: 0.001, max: 1, noNaN: true }),
      regions: fc.nat(2),
      excerpt: fc.option(excerpt),
    }),
    { selector: (file) => file.path, maxLength: 120 },
  )
  // No file is a directory of another.
  .map((all) => all.filter((file) => !all.some((other) => other.path.startsWith(`${file.path}/`))))

function outlineOf(wanted: Array<{ path: string; weight: number; regions: number }>): Outline {
  const place = (at: string, kind: Place['kind'], weight: number): Place => ({
    path: at,
    kind,
    weight,
    why: ['4.2 s of attention, 3 min ago'],
    signals,
  })
  const candidates = wanted.flatMap(({ path: at, weight, regions }): Candidate[] => {
    const file = { place: place(at, 'file', weight), file: null, lines: { path: at, from: 1, to: 60 } }
    const ranges = Array.from({ length: regions }, (_, i) => ({
      place: place(`${at}#L${i * 10 + 1}-L${i * 10 + 5}`, 'region', weight / 2),
      file,
      lines: { path: at, from: i * 10 + 1, to: i * 10 + 5 },
    }))
    return [file, ...ranges]
  })
  return {
    candidates: candidates.sort((a, b) => b.place.weight - a.place.weight),
    overview: [{ place: place('top', 'directory', 0), file: null, lines: null }],
    directory: (at) => place(at, 'directory', 1),
    more: false,
  }
}

function pathsOf(places: readonly Place[]): string[] {
  return places.flatMap((place) => [place.path, ...pathsOf(place.children ?? [])])
}

describe('fitting the context into its budget', () => {
  const cases: [string, Form][] = [
    ['structured result', jsonForm],
    ['text', textForm],
  ]
  for (const [what, form] of cases)
    it(`never exceeds the tokens of a ${what}, whatever the tree, the memories, the root and the budget`, async () => {
      await fc.assert(
        fc.asyncProperty(
          files,
          fc.array(memory, { maxLength: 8 }),
          fc.integer({ min: 0, max: 200 }),
          fc.integer({ min: 200, max: 6000 }),
          async (tree, memories, repeats, maxTokens) => {
            const excerpts = new Map(tree.map((file) => [file.path, file.excerpt]))
            const context = await fit({
              root: `/home/${'プロジェクト'.repeat(repeats)}`,
              generatedAt: '2026-11-21T07:17:52.000Z',
              notes: ['git is not installed'],
              outline: outlineOf(tree),
              memories,
              maxTokens,
              form,
              incomplete: false,
              countTokens,
              excerptOf: async (at) => excerpts.get(at) ?? null,
            })
            const written = form.whole(context)
            assert.equal(context.tokens, await countTokens(written[0] ?? ''))
            for (const each of written)
              assert.ok((await countTokens(each)) <= maxTokens, `${each.length}: ${maxTokens}`)
            assert.ok(written.includes(renderContext(context)))
            assert.equal(JSON.stringify(WorkContext.parse(context)), JSON.stringify(context))
            const shown = pathsOf(context.places)
            assert.equal(new Set(shown).size, shown.length)
            if (!context.truncated) for (const file of tree) assert.ok(shown.includes(file.path), file.path)
          },
        ),
        { numRuns: 60 },
      )
    })

  it('keeps the weightiest places when not all fit, and says that it left some out', async () => {
    const wanted = Array.from({ length: 300 }, (_, i) => ({
      path: `src/file${i}.ts`,
      weight: (i + 1) / 300,
      regions: 0,
    }))
    const context = await fit({
      root: '/p',
      generatedAt: '2026-11-21T07:17:52.000Z',
      notes: [],
      outline: outlineOf(wanted),
      memories: [],
      maxTokens: 900,
      form: jsonForm,
      incomplete: false,
      countTokens,
      excerptOf: async () => null,
    })
    const shown = pathsOf(context.places).filter((at) => at.endsWith('.ts'))
    assert.equal(context.truncated, true)
    assert.ok(shown.length >= 15)
    assert.deepEqual(
      shown,
      wanted
        .slice(-shown.length)
        .reverse()
        .map((file) => file.path),
    )
  })
})
