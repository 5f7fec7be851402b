import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseFrontMatter } from '../../src/skills/front-matter.ts'

const skill = (yaml: string, content = 'Do it.') => `---\n${yaml}\n---\n${content}`

describe('a front matter', () => {
  it('is taken apart from what follows it', () => {
    const text = skill('name: pdf\ntags: [a, b]\nmetadata:\n  author: me', '# Title\n\n---\n\nMore.')
    assert.deepEqual(parseFrontMatter(text), {
      data: { name: 'pdf', tags: ['a', 'b'], metadata: { author: 'me' } },
      written: { name: 'pdf', tags: ['a', 'b'], metadata: { author: 'me' } },
      content: '# Title\n\n---\n\nMore.',
    })
  })

  it('may have a byte order mark, CRLF line ends, and nothing after it', () => {
    const pdf = { data: { name: 'pdf' }, written: { name: 'pdf' }, content: '' }
    assert.deepEqual(parseFrontMatter('\uFEFF---\r\nname: pdf\r\n---\r\n'), pdf)
    assert.deepEqual(parseFrontMatter('---\nname: pdf\n---'), pdf)
  })

  it('comes back as JSON', () => {
    const { data } = parseFrontMatter(skill('at: 2026-11-21\nnever: .inf\nblob: !!binary aGk=\nset: !!set {a}\nnone:'))
    assert.deepEqual(data, { at: '2026-11-21T00:00:00.000Z', never: null, blob: null, set: { a: null }, none: null })
  })

  it('has its numbers, booleans and times also as they were written', () => {
    const yaml = [
      ...[
        'a: 1.10',
        'b: 1e3',
        'c: 2024-05-01',
        'd: True',
        'e: "2.0"',
        'f: !!float 1.0',
        'g: [1.0, 0x1F]',
        'h: ~',
        'i:',
      ],
      ...['base: &base {j: 1_000}', 'k: {<<: *base, l: .inf}'],
    ].join('\n')
    const { data, written } = parseFrontMatter(skill(yaml))
    assert.deepEqual(written, {
      ...{ a: '1.10', b: '1e3', c: '2024-05-01', d: 'True', e: '2.0', f: '1.0', g: ['1.0', '0x1F'], h: null, i: null },
      ...{ base: { j: '1_000' }, k: { j: '1_000', l: '.inf' } },
    })
    assert.deepEqual([data.a, data.b, data.d, data.g, data.k], [1.1, 1000, true, [1, 31], { j: 1000, l: null }])
  })

  it('is never evaluated', () => {
    for (const language of ['js', 'javascript', 'json', 'coffee', 'toml', 'JS', ' js'])
      assert.throws(
        () => parseFrontMatter(`---${language}\n{ a: (globalThis.evaluated = true) }\n---\n`),
        /does not begin with front matter/,
        language,
      )
    assert.ok(!('evaluated' in globalThis), 'nothing was evaluated')
    for (const tag of ['!!js/function "function () {}"', '!!js/regexp /a/', '!!js/undefined ""', '!!python/object x'])
      assert.throws(() => parseFrontMatter(skill(`a: ${tag}`)), tag)
  })

  it('cannot grow', () => {
    const levels = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 12; i++)
      levels.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      )
    assert.throws(() => parseFrontMatter(skill(levels.join('\n'))), /too many values/)
    assert.throws(() => parseFrontMatter(skill(`a: ${'['.repeat(50)}${']'.repeat(50)}`)), /too many values/)
    assert.throws(() => parseFrontMatter(skill('a: &a [*a]')))
    const long = `a: &a ${'x'.repeat(50_000)}\n`
    assert.throws(() => parseFrontMatter(skill(`${long}b: [*a, *a]`)), /too much text/)
    assert.throws(() => parseFrontMatter(skill(`a: &a {${'x'.repeat(40_000)}: 1}\nb: *a`)), /too much text/)
    assert.equal(Object.keys(parseFrontMatter(skill(long)).data).length, 1)
  })

  it('is read in bounded time, for any content', () => {
    const keys = Array.from({ length: 4000 }, (_, i) => `k${i}: 1`).join(', ')
    const merges = Array(9000).fill('*a').join(',')
    for (const text of [
      '\n'.repeat(60_000),
      '\n'.repeat(1_000_000),
      ' '.repeat(60_000),
      `${' '.repeat(199)}x`.repeat(300),
      `a: &a {${keys}}\nb:\n  <<: [${merges}]`,
      `a: ${'['.repeat(30_000)}`,
      '? '.repeat(20_000),
    ]) {
      const began = process.cpuUsage()
      try {
        parseFrontMatter(skill(text))
      } catch (error) {
        assert.ok(error instanceof Error, 'it is refused, or read')
      }
      const { user } = process.cpuUsage(began)
      // What grows by the square takes minutes.
      assert.ok(user < 20_000_000, `${JSON.stringify(text.slice(0, 20))} took ${user / 1000} ms`)
    }
  })

  it('leaves prototypes alone', () => {
    const { data } = parseFrontMatter(
      skill('__proto__: { polluted: true }\nconstructor: { prototype: { polluted: true } }'),
    )
    assert.ok(!('polluted' in data) && !('polluted' in {}), 'no prototype was changed')
  })

  for (const [fault, text] of [
    ['no beginning', '# Just text'],
    ['no end', '---\nname: pdf\n'],
    ['nothing at all', ''],
    ['a list', skill('- a\n- b')],
    ['a text', skill('just text')],
    ['YAML that is none', skill('a: [1\nb: }')],
    ['the same name twice', skill('a: 1\na: 2')],
  ] as const)
    it(`is refused with ${fault}`, () => assert.throws(() => parseFrontMatter(text), Error))

  it('survives any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (yaml) => {
        try {
          JSON.stringify(parseFrontMatter(skill(yaml)).data)
        } catch (error) {
          assert.ok(error instanceof Error, 'it says what is wrong')
        }
      }),
    )
  })
})
