import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { deadLinks, pagesOf } from '../../scripts/docs/links.ts'
import { generatedPages } from '../../scripts/docs/pages.ts'
import { withShownVersion } from '../../scripts/docs/shown-version.ts'
import { checkConfig } from '../../src/config/check-config.ts'
import { CONFIG_KEYS } from '../../src/config/config-keys.ts'
import { blocksOf, codeIn, sectionOf } from './markdown.ts'

const pages = pagesOf('.')
const read = (file: string) => readFileSync(file, 'utf8')
const SOURCES = ['src', 'tools', 'adapters'].flatMap(sourcesBelow)
/** A path of this repository, as a page names it. */
const PATH = /^(?:src|tools|adapters|test|scripts|bench|deploy)\/[\w./*-]*$/
/** Methods of the protocol that look like one. */
const METHODS = new Set(['tools/list', 'tools/call'])
/** A part of one that the reader is to fill in: `src/providers/NAME.ts`. */
const PLACEHOLDER = /[A-Z*]{3,}|\*/
const prose = (page: string) => page.replaceAll(/^```[\s\S]*?^```$/gm, '')

describe('a page', () => {
  for (const { file, found, expected } of generatedPages())
    it(`${file} says what the schemas say (npm run docs writes it)`, () => assert.equal(found, expected))

  it('shows the version of this package in outputs, and others as they are', () => {
    const { version } = JSON.parse(read('package.json'))
    const others = 'Node 20.18.1\nIt is 0.0.9.\ngazeway 0.0.9 was the first\nhelm-0.0.9.tgz\n'
    const page = (of: string) =>
      `${others}gazeway ${of}: gateway on …\n${of}\nnpm install --global ./gazeway-${of}.tgz\n`
    assert.equal(withShownVersion(page('0.0.9')), page(version))
  })

  it('has no dead link', () => assert.deepEqual(deadLinks('.', pages), []))

  it('is in the index, docs/README.md', () => {
    const index = read('docs/README.md')
    const others = pages.filter((file) => file.startsWith('docs/') && file !== 'docs/README.md')
    assert.ok(others.length > 30, String(others))
    for (const file of others) assert.ok(index.includes(`](${file.slice('docs/'.length)})`), file)
  })

  for (const file of pages.filter((page) => page.startsWith('docs/guides/')))
    it(`${file} says what its reader needs before it begins`, () =>
      assert.match(read(file).split('\n## ')[0] ?? '', /^You need Node .*\[install it first\]/ms))

  for (const file of pages)
    it(`${file} names files and folders that are there`, () => {
      const paths = codeIn(prose(read(file))).filter((word) => PATH.test(word) && !METHODS.has(word))
      for (const path of paths.filter((one) => !PLACEHOLDER.test(one))) assert.ok(existsSync(path), path)
    })

  it('CONTRIBUTING.md names sources that are there', () => {
    const there = SOURCES.map((file) => basename(file))
    const named = codeIn(prose(read('CONTRIBUTING.md'))).filter((word) => /^[a-z][\w-]*\.ts$/.test(word))
    assert.ok(named.length > 10, String(named))
    for (const name of named) assert.ok(there.includes(name), name)
  })

  it('draws the rooms in the order that is checked', () => {
    const order = /const ROOMS = \[([^\]]*)\]/.exec(read('scripts/rooms.ts'))?.[1] ?? ''
    const rooms = [...order.matchAll(/'([\w-]+)'/g)].map(([, room]) => room)
    assert.ok(rooms.length > 10, order)
    const drawn = blocksOf(sectionOf(read('CONTRIBUTING.md'), 'Where a thing belongs'))
    const lines = drawn.flatMap(({ text }) => text.trim().split('\n'))
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0]),
      rooms,
    )
  })

  it('shows configuration that is accepted', () => {
    const examples = ['configuration', 'upstream', 'routes', 'payments', 'chain'].flatMap((page) =>
      blocksOf(read(`docs/reference/${page}.md`)),
    )
    const documents = examples.filter(({ language }) => language === 'json')
    assert.ok(documents.length >= 4)
    for (const { text } of documents) {
      const document = JSON.parse(text.replaceAll('0x…', `0x${'0'.repeat(40)}`))
      assert.equal(checkConfig(document).error, undefined)
    }
  })

  it('offers no configuration key that nothing reads', () => {
    const code = SOURCES.filter((file) => !file.startsWith(join('src', 'config', 'sections'))).map(read)
    for (const { key } of CONFIG_KEYS) {
      const leaf = new RegExp(`\\b${key.split('.').at(-1)}\\b`)
      assert.ok(
        code.some((text) => leaf.test(text)),
        `nothing reads ${key}`,
      )
    }
  })

  it('gives the formulas that the code says it computes', () => {
    const rooms = ['src/gaze', 'src/context', 'src/memory', 'src/review', 'src/providers'].flatMap(sourcesBelow)
    const sources = rooms.map((file) => flat(read(file))).join(' ')
    const formulas = pages.flatMap((file) => blocksOf(read(file)).filter(({ language }) => language === 'formula'))
    assert.ok(formulas.length >= 5)
    for (const line of formulas.flatMap(({ text }) => text.trim().split('\n')))
      assert.ok(sources.includes(flat(line)), `no docstring has: ${line}`)
  })
})

/** The source files below a folder, but for those of the configuration itself. */
function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => file.endsWith('.ts'))
}

/** A text on one line, without what marks the lines of a docstring. */
function flat(text: string): string {
  return text.replace(/\n\s*\* ?/g, ' ').replace(/\s+/g, ' ')
}
