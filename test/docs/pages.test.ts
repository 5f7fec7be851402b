import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { generatedPages } from '../../scripts/docs/pages.ts'
import { checkConfig } from '../../src/config/schema.ts'
import { blocksOf, codeIn, linksOf } from './markdown.ts'

const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...filesIn('docs')].filter((file) =>
  file.endsWith('.md'),
)
const read = (file: string) => readFileSync(file, 'utf8')

describe('a page', () => {
  for (const { file, found, expected } of generatedPages())
    it(`${file} says what the schemas say (npm run docs writes it)`, () => assert.equal(found, expected))

  for (const file of pages)
    it(`${file} links to files that are there`, () => {
      const local = linksOf(read(file)).filter((target) => !target.startsWith('https://'))
      for (const target of local) assert.ok(existsSync(join(dirname(file), target)), target)
    })

  it('shows configuration that is accepted', () => {
    const examples = ['docs/configuration.md', 'docs/upstream.md'].flatMap((file) => blocksOf(read(file)))
    const documents = examples.filter(({ language }) => language === 'json')
    assert.ok(documents.length >= 2)
    for (const { text } of documents) assert.equal(checkConfig(JSON.parse(text)).error, undefined)
  })

  it('says that nothing reads a key only while nothing does', () => {
    const [, paragraph = ''] = /^Nothing reads these yet: ([\s\S]*?)\n\n/m.exec(read('docs/configuration.md')) ?? []
    const code = ['src', 'tools', 'adapters'].flatMap((folder) => sourcesBelow(folder)).map(read)
    for (const key of codeIn(paragraph)) {
      const [leaf = ''] = key.split('.').slice(-1)
      const mentioned = leaf.includes('_') ? leaf : key
      assert.ok(!code.some((text) => text.includes(mentioned)), `${key} is read: take it off the list`)
    }
  })

  it('gives the formulas that the code says it computes', () => {
    const sources = [...filesIn('src/gaze'), ...filesIn('src/context')].map((file) => flat(read(file))).join(' ')
    const formulas = pages.flatMap((file) => blocksOf(read(file)).filter(({ language }) => language === 'formula'))
    assert.ok(formulas.length >= 5)
    for (const line of formulas.flatMap(({ text }) => text.trim().split('\n')))
      assert.ok(sources.includes(flat(line)), `no docstring has: ${line}`)
  })
})

function filesIn(folder: string): string[] {
  return readdirSync(folder).map((name) => `${folder}/${name}`)
}

/** The source files below a folder, but for those of the configuration itself. */
function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => file.endsWith('.ts') && !file.startsWith(join('src', 'config')))
}

/** A text on one line, without what marks the lines of a docstring. */
function flat(text: string): string {
  return text.replace(/\n\s*\* ?/g, ' ').replace(/\s+/g, ' ')
}
